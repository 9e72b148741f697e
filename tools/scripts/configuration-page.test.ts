/** docs/configuration.md has the table of variables that the server reads. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fillPage } from './configuration-page.js'

const page = readFileSync(join(import.meta.dirname, '../../docs/configuration.md'), 'utf8')

test('the tables of the page are those of the variables; npm run configuration-page makes them again', () => {
  expect(fillPage(page)).toBe(page)
  expect(fillPage(page.replace('| `PI_PORT` |', '| `PI_PORTS` |'))).toBe(page)
  expect(() => fillPage(page.replace('<!-- end of variables -->', ''))).toThrow('The page has no place')
})
