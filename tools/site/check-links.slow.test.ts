import { expect, test } from 'vitest'
import { makeFolder, runScript } from '../scripts/test/check-folder.js'

/** Checks a folder of these files, which has a folder `media` too. */
function check(files: Readonly<Record<string, string>>) {
  const { code, stdout, stderr } = runScript('site/check-links.mjs', makeFolder({ 'media/a.txt': '', ...files }))
  return { status: code, out: stdout.trim(), problems: stderr.trim().split('\n') }
}

const page = '<p id="there">x</p><a href="https://example.com/gone">x</a>'

test('links that resolve pass', () => {
  const links =
    '<a href="b.html#there">x</a> <a href="media/a%20b.ts?x">x</a> <a href="#there">x</a> <img src="media/a b.ts">'
  expect(check({ 'a.html': page + links, 'b.html': page, 'media/a b.ts': '' })).toMatchObject({
    status: 0,
    out: '2 pages, 4 relative links, 0 problems',
  })
})

test('a link from the root of the folder leads to its file, and one to a folder to its index', () => {
  const links = '<a href="/b.html#there">x</a> <a href="/media/">x</a> <a href="/media/index.html">x</a>'
  expect(check({ 'a.html': links, 'b.html': page, 'media/index.html': '' })).toMatchObject({ status: 0 })
  expect(check({ 'a.html': '<a href="/c.html">x</a>' }).problems).toEqual(['a.html: /c.html: there is no such file'])
})

test.each([
  ['a file that is missing', '<a href="../docs/gone.md">x</a>', 'a.html: ../docs/gone.md: there is no such file'],
  ['a folder', '<a href="media">x</a>', 'a.html: media: there is no such file'],
  ['a place that is missing', '<a href="#gone">x</a>', 'a.html: #gone: there is no such place on that page'],
])('a link to %s fails and is named', (_, link, problem) => {
  expect(check({ 'a.html': page + link })).toMatchObject({ status: 1, problems: [problem] })
})

test('a link of llms.txt to a file that is missing fails and is named', () => {
  const files = { 'a.html': page, 'llms.txt': '- [A](/a.html)\n- [B](/b.md)' }
  expect(check(files)).toMatchObject({ status: 1, problems: ['llms.txt: /b.md: there is no such file'] })
})

test('a document that is published unchanged fails: its own links are not checked', () => {
  const { status, problems } = check({ 'a.html': `${page}<a href="media/x.md">x</a>`, 'media/x.md': '[y](y.md)' })
  expect(status).toBe(1)
  expect(problems).toEqual([expect.stringContaining('media/x.md is copied and not a page')])
})

test('a folder without pages or links fails: nothing was checked', () => {
  expect(check({}).status).toBe(1)
})
