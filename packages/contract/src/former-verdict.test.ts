import { describe, expect, test } from 'vitest'
import { formatShareRejection, parseFormerVerdict } from './identity.js'

const said = 'Token is invalid: accessed at 10:30'
const sentence = 'The verification shared before was rejected: RED'

describe('the message of a 422', () => {
  test.each([
    [said, null, said],
    ['', null, ''],
    [
      said,
      { rejectType: 'FINAL', rejectLabels: ['A', 'Ünknown, b.'] },
      `${said}. ${sentence}, FINAL. Labels: A, Ünknown, b..`,
    ],
    ['No!', { rejectType: 'RETRY', rejectLabels: [] }, `No! ${sentence}, RETRY.`],
    ['', { rejectType: null, rejectLabels: ['A'] }, `${sentence}. Labels: A.`],
  ] as const)('after %j with %j is %j', (description, former, message) => {
    const copy = former === null ? null : { ...former, rejectLabels: [...former.rejectLabels] }
    expect(formatShareRejection(description, copy)).toBe(message)
  })

  test.each([
    ['many labels', Array.from({ length: 500 }, (_, n) => `LABEL_${n}`), /Labels: LABEL_0, .* and \d+ more[.]$/],
    ['one overlong label', ['x'.repeat(2_000)], /Labels: 1, each too long to be shown[.]$/],
  ])('holds whole labels, 1000 characters at most: %s', (_, rejectLabels, pattern) => {
    const message = formatShareRejection('', { rejectType: 'RETRY', rejectLabels })
    expect(message).toMatch(pattern)
    expect(message.length).toBeLessThan(1_100)
    const [, text = ''] = message.split('Labels: ')
    const shown = text.split(/, | and \d+ more[.]/).filter((each) => each.startsWith('LABEL'))
    expect(shown).toEqual(rejectLabels.slice(0, shown.length).filter((label) => label.startsWith('LABEL')))
  })
})

describe('the former verdict', () => {
  const texts = [
    ...[
      '',
      said,
      'A',
      `${sentence}, FINAL.`,
      `${sentence}, RETRY`,
      sentence,
      ', FINAL.',
      '. Labels: ',
      'x'.repeat(999),
    ],
  ]

  test('is parsed as it was formatted, for any labels', () => {
    for (const description of ['', said, `${sentence}, FINAL. And more`, sentence])
      for (const rejectType of ['RETRY', 'FINAL', null] as const)
        for (const first of texts)
          for (const second of texts) {
            const message = formatShareRejection(description, { rejectType, rejectLabels: [first, second] })
            expect(parseFormerVerdict(message), message).toEqual({ rejectType })
          }
  })

  test.each(['', said, `${sentence}, LATER.`, `${sentence}FINAL`, sentence])('is not in %j', (message) => {
    expect(parseFormerVerdict(message)).toBeNull()
  })
})
