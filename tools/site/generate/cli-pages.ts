/** Generates the reference of the commands from their help texts. @module */
import { runCli } from '@payment-integration/cli'

/** The help text of a command line. */
async function getHelp(args: readonly string[]): Promise<string> {
  const lines: string[] = []
  const io = {
    out: (line: string) => lines.push(line),
    err: (line: string) => lines.push(line),
    env: {},
    color: false,
  }
  await runCli([...args, '--help'], io as never)
  return lines.join('\n')
}

/** Names in the list of commands of a help text. */
function getCommands(help: string): string[] {
  const [, list = ''] = help.split(/^Commands:$/m)
  return [...(list.split(/^\S/m)[0] ?? '').matchAll(/^ {2}([a-z][\w-]*)/gm)].flatMap(([, name]) => name ?? [])
}

/** One page: every command with its help. */
export async function buildCliPage(): Promise<string> {
  const help = await getHelp([])
  const parts = [
    '# Commands',
    'What `--help` prints, for every command of `payment-integration`. Each one takes the global options too.',
    formatHelp(help),
  ]
  for (const name of getCommands(help)) {
    const own = await getHelp([name])
    parts.push(`## ${name}`, formatHelp(own))
    for (const sub of getCommands(own)) parts.push(`### ${name} ${sub}`, formatHelp(await getHelp([name, sub])))
  }
  return `${parts.join('\n\n')}\n`
}

const formatHelp = (text: string) => `\`\`\`text\n${text.replace(/\n\nGlobal Options:(?:\n {2}.*)+/, '')}\n\`\`\``
