/** Counts the words of the pages of each reader path. @module */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSidebar } from '../.vitepress/sidebar.js'

/** One line for each path: its name, its pages and their words. @param pages - The folder of the pages. */
export function countWordsPerPath(pages: string): string[] {
  return buildSidebar(pages).map(({ text, items = [] }) => {
    const words = items.map(({ link = '' }) => countWords(readFileSync(join(pages, getFile(link)), 'utf8')))
    return `${text}: ${items.length} pages, ${words.reduce((sum, count) => sum + count, 0)} words`
  })
}

const countWords = (text: string) => text.split(/\s+/).filter((word) => /\p{L}/u.test(word)).length
const getFile = (link: string) => (link.endsWith('/') ? `${link}index.md` : `${link}.md`)
