/** INTERFACE 3 (KYC attachment): whose applicant takes its place. */
import { expect, test } from 'vitest'
import { approved, begun, otherShop, rejected, shop } from '../../test/support/share-setup.js'
import { mayAttach } from './decide-attach.js'

const own = { donor: shop, applicantId: 'there', attempt: 2, review: approved }
const along = { donor: shop, applicantId: 'there', attempt: null, review: approved }

test.each([
  ['where nothing is attached', { donor: null, applicantId: null, attempt: null, review: null }, 1, null, true],
  ['over an older attempt of the same integration', own, 3, null, true],
  ['over an older attempt, whatever became of it', { ...own, review: rejected }, 3, 'there', true],
  ['over a newer attempt', own, 1, null, false],
  ['over a newer attempt, whatever it was to replace', own, 1, 'there', false],
  ['over its own', own, 2, null, false],
  ['over what another integration shared', { ...own, donor: otherShop }, 3, 'there', false],
  ['over what another integration shared, rejected', { ...own, donor: otherShop, review: rejected }, 3, null, false],
  ['over what came along approved', along, 3, null, false],
  ['over what came along and is in flight', { ...along, review: begun }, 3, null, false],
  ['over what came along since, in place of what it was to replace', along, 3, 'gone away', false],
  ['over what came along, by the one that was to replace it', along, 1, 'there', true],
  [
    'over what came along and is in flight, by the one that was to replace it',
    { ...along, review: begun },
    1,
    'there',
    true,
  ],
  ['over what came along rejected', { ...along, review: rejected }, 1, null, true],
  ['over what came along and is gone', { ...along, review: null }, 1, null, true],
  ['over what came along of another integration', { ...along, donor: otherShop, review: rejected }, 1, 'there', false],
] as const)('%s', (_, found, number, replaces, attaches) => {
  expect(mayAttach(found, { integrationAddress: shop, number, replaces })).toBe(attaches)
})
