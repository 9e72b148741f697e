/** Checks the operators' pages of an installed server, whose script and style come from the tarball. @module */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { start } from './child.mjs'

/** Files of a page, each with the type that a browser requires. */
const assets = [
  ['console.js', 'text/javascript'],
  ['console.css', 'text/css'],
]

/**
 * Starts the server with PI_CONSOLE=on, and loads a page with its script and style.
 * @param {string} program
 * @param {readonly string[]} args - Run the installed command.
 * @param {{ cwd: string, env: Record<string, string> }} options - Where the command is installed; `env` names the
 * temporary folder.
 * @throws {Error} When an answer is not what a browser needs.
 */
export async function checkConsole(program, args, { cwd, env }) {
  const variables = {
    PI_ENV: 'development',
    PI_CONSOLE: 'on',
    PI_PORT: '0',
    PI_MASTER_KEY: randomBytes(32).toString('hex'),
    PI_DATABASE_URL: `sqlite:${join(env.TMPDIR, 'console.db')}`,
  }
  const running = start(program, [...args, 'serve', '--json'], { cwd, env: { ...env, ...variables }, seconds: 90 })
  try {
    const { url } = JSON.parse(await running.line((line) => line.includes('"event":"listening"'), 60))
    const page = await fetchBody(`${url}/console`, 'text/html')
    for (const [name, type] of assets) {
      const [path] = new RegExp(`/console/${name}\\?v=[\\w-]+`).exec(page) ?? []
      if (path === undefined) throw new Error(`The page does not load ${name}.`)
      const versioned = await fetchBody(`${url}${path}`, type)
      const plain = await fetchBody(`${url}/console/${name}`, type)
      if (versioned.length === 0 || versioned !== plain) throw new Error(`${name} has ${versioned.length} characters.`)
    }
  } finally {
    await running.stop()
  }
}

async function fetchBody(address, type) {
  const answer = await fetch(address)
  const contentType = answer.headers.get('content-type') ?? 'none'
  if (answer.status !== 200 || !contentType.startsWith(type))
    throw new Error(`${address} was answered ${answer.status} with the type ${contentType}; expected 200 and ${type}.`)
  return answer.text()
}
