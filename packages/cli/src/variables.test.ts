import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../test/temporary-folder.js'
import { checkVariableName, readInput, readIntegratorVariables, readSmallFile } from './input.js'

it.each(['pi_whsec_abc', 'pi_api_abc', 'a-b', '', '1A', 'A B', 'A'.repeat(129)])(
  '%j is no name of a variable, and the message does not repeat it',
  (name) => {
    expect(() => checkVariableName(name)).toThrow(/take the name of a variable, not a secret/)
  },
)

it('reads a file of 64 KiB and no larger one', async () => {
  const path = join(temporaryFolder(), 'file')
  writeFileSync(path, 'x'.repeat(65_536))
  expect(await readSmallFile(path, '--secret-file')).toHaveLength(65_536)
  writeFileSync(path, 'x'.repeat(65_537))
  await expect(readSmallFile(path, '--secret-file')).rejects.toThrow('--secret-file is larger than 64 KiB.')
})

it('calls an input too large even when the command is interrupted meanwhile', async () => {
  const stop = new AbortController()
  async function* sendTooMuch() {
    try {
      yield Buffer.alloc(1_048_577)
    } finally {
      stop.abort()
    }
  }
  const reading = readInput('-', { input: () => Readable.from(sendTooMuch()), signal: stop.signal }, 1)
  await expect(reading).rejects.toMatchObject({ code: 'ERR_USAGE', message: 'Standard input is larger than 1 MiB.' })
})

it.skipIf(process.platform === 'win32')(
  'reads a pipe to its end; a variable of the environment wins unless it is empty',
  async () => {
    const path = join(temporaryFolder(), 'pipe')
    execFileSync('mkfifo', [path])
    const reading = readIntegratorVariables(path, { env: { A: '3', B: '' } })
    await writeFile(path, 'A=1\nB=2\n')
    expect(await reading).toEqual({ A: '3', B: '2' })
  },
)

it('says that a file cannot be read, without its path', async () => {
  await expect(readSmallFile(join(temporaryFolder(), 'none'), '--env-file')).rejects.toThrow(
    '--env-file cannot be read (ENOENT).',
  )
})
