import { describe, expect, it } from 'vitest'
import { judge, type RunEnd } from './session.js'

const clean = { payments: 3, verified: 3, problems: [], unfinished: [] }
const problem = { ...clean, verified: 2, problems: ['Payment 2: no.'] }
const unfinished = { ...clean, verified: 2, unfinished: ['Payment 3 still waits for the indexer.'] }
const idle: RunEnd = { kind: 'idle' }
const interrupted: RunEnd = { kind: 'interrupted' }
const deadline: RunEnd = { kind: 'deadline', limitMs: 60_000 }
const chainLost: RunEnd = { kind: 'lost', reason: 'The chain ended.' }

describe('judge', () => {
  it.each([
    ['idle and clean', idle, clean, 0, []],
    ['idle with a problem', idle, problem, 1, ['Payment 2: no.']],
    ['interrupted', interrupted, clean, 1, ['Interrupted before every payment was verified.']],
    ['deadline', deadline, unfinished, 1, ['The deadline of 60 s passed.', ...unfinished.unfinished]],
    ['lost', chainLost, unfinished, 1, ['The chain ended.', ...unfinished.unfinished]],
  ] as const)('--until-idle, %s', (_name, ending, result, exitCode, reasons) => {
    expect(judge(ending, result, true)).toEqual({ exitCode, reasons })
  })

  it.each([
    ['interrupted', interrupted, clean, 0, []],
    ['interrupted with payments under way', interrupted, unfinished, 0, []],
    ['interrupted after a problem', interrupted, problem, 0, ['Payment 2: no.']],
    ['lost', chainLost, clean, 1, ['The chain ended.']],
  ] as const)('without --until-idle, %s', (_name, ending, result, exitCode, reasons) => {
    expect(judge(ending, result, false)).toEqual({ exitCode, reasons })
  })
})
