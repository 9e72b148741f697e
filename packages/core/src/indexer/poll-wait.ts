/** Decides the wait between two polls of a head. Source: docs/decisions/following-a-chain.md. @module */
import type { Chain } from '../ports/chain.js'

/** Polls of a chain whose blocks are announced are this many times rarer: they only find that announcements stopped. */
const announcedFactor = 10

/** The longest wait until the head is read again, in milliseconds. */
export function pollWaitMs(chain: Pick<Chain, 'announcesBlocks'>, pollMs: number): number {
  return chain.announcesBlocks?.() ? pollMs * announcedFactor : pollMs
}
