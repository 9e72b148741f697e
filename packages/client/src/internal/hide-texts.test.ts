import { expect, test } from 'vitest'
import { hideTexts } from './check.js'

test.each<[string, string, readonly string[], string]>([
  ['at every occurrence', 'token abc, again abc', ['abc'], 'token [hidden], again [hidden]'],
  ['in any case', 'for USER@shop.example', ['User@Shop.Example'], 'for [hidden]'],
  ['in URL encoding', 'GET /reuse?shareToken=a%2Bb%2F%C3%A9', ['a+b/é'], 'GET /reuse?shareToken=[hidden]'],
  ['with special characters of a regular expression', 'x (a*b).[c]$^{2}|/\\ y', ['(a*b).[c]$^{2}|/\\'], 'x [hidden] y'],
  ['and not the texts that such a character would match', 'aXc', ['a.c'], 'aXc'],
  ['that begins like a shorter one', 'abcdef abc', ['abc', 'abcdef'], '[hidden] [hidden]'],
  ['without replacing inside [hidden]', 'a token', ['token', 'hidden', 'd'], 'a [hidden]'],
  ['with half a surrogate pair in it', 'x \ud800y', ['\ud800y'], 'x [hidden]'],
  ['unless it is empty', 'abc', [''], 'abc'],
  ['unless the list is empty', 'abc', [], 'abc'],
])('hides a secret %s', (_case, text, secrets, expected) => expect(hideTexts(text, secrets)).toBe(expected))
