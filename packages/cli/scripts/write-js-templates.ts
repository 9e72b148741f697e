/** Writes each template of `init` as JavaScript, beside the TypeScript. @module */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripTypes } from './strip-types.js'

const folder = join(import.meta.dirname, '../templates')
const templates = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
const written = templates.map((name) => {
  const path = join(folder, name)
  const target = path.replace(/[.]ts$/, '.js')
  writeFileSync(target, stripTypes(readFileSync(path, 'utf8')))
  return target
})
const root = join(import.meta.dirname, '../../..')
execFileSync(join(root, 'node_modules/.bin/biome'), ['check', '--write', ...written], { cwd: root, stdio: 'inherit' })
