/** INTERFACE 3 (KYC attachment): whose applicant takes its place. */
import { expect, test } from 'vitest'
import { approved, begun, otherShop, rejected, shop } from '../../test/support/share-setup.js'
import { mayAttach } from './decide-attach.js'

const own = { donor: shop, attempt: 2, review: approved }
const along = { donor: shop, attempt: null, review: approved }

test.each([
  ['where nothing is attached', { donor: null, attempt: null, review: null }, 1, false, true],
  ['over an older attempt of the same integration', own, 3, false, true],
  ['over an older attempt, whatever became of it', { ...own, review: rejected }, 3, true, true],
  ['over a newer attempt', own, 1, false, false],
  ['over its own', own, 2, false, false],
  ['over what another integration shared', { ...own, donor: otherShop }, 3, true, false],
  ['over what another integration shared, rejected', { ...own, donor: otherShop, review: rejected }, 3, false, false],
  ['over what came along approved', along, 3, false, false],
  ['over what came along and is in flight', { ...along, review: begun }, 3, false, false],
  ['over what came along approved, by its retry', along, 1, true, true],
  ['over what came along rejected', { ...along, review: rejected }, 1, false, true],
  ['over what came along and is gone', { ...along, review: null }, 1, false, true],
  ['over what came along of another integration', { ...along, donor: otherShop, review: rejected }, 1, true, false],
] as const)('%s', (_, found, number, isRetry, attaches) => {
  expect(mayAttach(found, { integrationAddress: shop, number, isRetry })).toBe(attaches)
})
