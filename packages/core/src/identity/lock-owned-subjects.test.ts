import { describe, expect, test } from 'vitest'
import type { AddressOwner } from '../ports/identity.js'
import { decideSubjectOwner } from './accounts.js'

const placeholder = { accountId: null, proved: false, redemptions: 0 }
const shared = { ...placeholder, redemptions: 1 }
const carried = { accountId: 'a', proved: false, redemptions: 1 }
const proved = { accountId: 'a', proved: true, redemptions: 1 }
const owns = (accountId: string): AddressOwner => ({ accountId, proved: true })
const carries = (accountId: string): AddressOwner => ({ accountId, proved: false })
const same = { kind: 'same' }
const set = (accountId: string | null, isProved: boolean) => ({ kind: 'set', accountId, proved: isProved })
const replace = { kind: 'replace' }

describe('the open subject of an address', () => {
  test.each([
    ['a placeholder, and nobody has the address', placeholder, null, same],
    ['a placeholder without redemptions, and somebody carries the address', placeholder, carries('a'), set('a', false)],
    ['a placeholder with redemptions, and somebody carries the address', shared, carries('a'), same],
    ['a placeholder, and somebody proved the address', shared, owns('a'), set('a', true)],
    ['carried, and its account still carries it', carried, carries('a'), same],
    ['carried, and its account proved it', carried, owns('a'), set('a', true)],
    ['carried, and another account proved it', carried, owns('b'), set('b', true)],
    ['carried, and another account carries it now', carried, carries('b'), set('b', false)],
    ['carried, and nobody has it now', carried, null, set(null, false)],
    ['proved, and its account still owns it', proved, owns('a'), same],
    ['proved, and the host answers that its account only carries it', proved, carries('a'), same],
    ['proved, and another account proved it', proved, owns('b'), replace],
    ['proved, and another account carries it now', proved, carries('b'), replace],
    ['proved, and nobody has it now', proved, null, replace],
  ] as const)('%s', (_, open, owner, decision) => {
    expect(decideSubjectOwner(open, owner)).toEqual(decision)
  })
})
