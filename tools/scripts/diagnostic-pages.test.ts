import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fillPage } from './diagnostic-pages.js'

test.each([
  ['docs/doctor.md', '`body-parsed`'],
  ['docs/explain.md', '`body_parsed`'],
])('the lists of %s are those of the code; npm run diagnostic-pages makes them again', (path, code) => {
  const page = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  expect(fillPage(path, page)).toBe(page)
  expect(fillPage(path, page.replace(`- ${code}`, '- `other`'))).toBe(page)
  expect(() => fillPage(path, page.replaceAll('<!-- end of ', '<!-- '))).toThrow('has no place')
})
