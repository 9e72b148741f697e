import { expect, test } from 'vitest'
import { hideTexts } from './hide-texts.js'

test.each<[string, string, readonly string[], string]>([
  ['as it is, every time', 'token abc, again abc', ['abc'], 'token [hidden], again [hidden]'],
  ['in any case', 'for USER@shop.example', ['User@Shop.Example'], 'for [hidden]'],
  ['as in a URL', 'GET /reuse?shareToken=a%2Bb%2F%C3%A9', ['a+b/é'], 'GET /reuse?shareToken=[hidden]'],
  ['with signs of a regular expression', 'x (a*b).[c]$^{2}|/\\ y', ['(a*b).[c]$^{2}|/\\'], 'x [hidden] y'],
  ['and not what a sign would stand for', 'aXc', ['a.c'], 'aXc'],
  ['the longer of two that begin alike', 'abcdef abc', ['abc', 'abcdef'], '[hidden] [hidden]'],
  ['without looking into what it has hidden', 'a token', ['token', 'hidden', 'd'], 'a [hidden]'],
  ['with half a surrogate pair in it', 'x \ud800y', ['\ud800y'], 'x [hidden]'],
  ['unless it is empty', 'abc', [''], 'abc'],
  ['unless there is none', 'abc', [], 'abc'],
])('hides a secret %s', (_case, text, secrets, expected) => {
  expect(hideTexts(text, secrets)).toBe(expected)
})
