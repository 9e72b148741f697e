import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { openBrowser } from './machine.js'

const url = 'http://127.0.0.1:4747/console?a=1&b=2'

it.each([
  ['linux', 'xdg-open'],
  ['darwin', 'open'],
])('on %s the address goes to %s', async (system, opener) => {
  const folder = temporaryFolder()
  const pipe = join(folder, 'pipe')
  await promisify(execFile)('mkfifo', [pipe])
  await writeFile(join(folder, opener), `#!/bin/sh\nprintf '%s' "$1" > ${pipe}\n`, { mode: 0o755 })
  expect(await openBrowser(url, { PATH: folder }, system)).toBe(`Opening ${url}`)
  expect(await readFile(pipe, 'utf8')).toBe(url)
})

it.each(['linux', 'darwin', 'win32'])('without an opener on %s the address is printed', async (system) => {
  expect(await openBrowser(url, { PATH: temporaryFolder() }, system)).toMatch(
    /^No (xdg-open|open|cmd) on this machine\. Open http:\/\/127\.0\.0\.1:4747\/console\?a=1&b=2$/,
  )
})
