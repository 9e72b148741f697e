/** The lines of a triggered event. @module */
import { plain, shortHash } from '../../format.js'
import type { Style } from '../../output.js'
import type { PostedEvent } from './post-trigger.js'

/** The lines of an event. A snapshot is printed with its exact bytes. */
export function triggerText(event: PostedEvent, style: Style): readonly string[] {
  switch (event.event) {
    case 'block': {
      const { chainId, blockNumber, txHashes } = event
      const [first = ''] = txHashes
      const what = txHashes.length === 1 ? `payment  ${plain(first)}` : `payments ${txHashes.length}`
      return [`${what}   chain ${plain(chainId)}, block ${blockNumber}`]
    }
    case 'update':
      return [`update   ${shortHash(plain(event.txHash))}   ${plain(event.state)}`]
    case 'snapshot':
      return [
        `snapshot ${shortHash(plain(event.txHash))}   ${style.yellow(plain(event.state ?? 'none'))}   v${event.version}`,
        style.dim(plain(event.body)),
      ]
    case 'delivery': {
      const { txHash, version, expected, status } = event
      const answer =
        status !== null && status >= 200 && status < 300 ? style.green(status) : style.red(status ?? 'none')
      return [`again    ${shortHash(plain(txHash))}   v${version}, which is ${expected} now: answer ${answer}`]
    }
    case 'reorganised': {
      const place = event.included ? 'is in a new block: no new version' : 'is on the chain no more'
      return [`reorg    ${shortHash(plain(event.txHash))}   ${place}`]
    }
    case 'share':
      return [
        `share    ${style.dim(plain(JSON.stringify(event.request)))}`,
        `         ${event.status} ${plain(JSON.stringify(event.answer))}`,
      ]
    case 'failed':
      return [style.red(`failed   ${plain(event.reason)}`)]
    case 'done':
      return [style.green(`done     ${count(event.payments, 'payment')}, ${count(event.snapshots, 'snapshot')} shown`)]
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
