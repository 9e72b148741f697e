/** The lines of a triggered event. @module */
import type { TriggerEvent } from '@payment-integration/testing/twin'
import { shortHash } from '../../format.js'
import { escapeControls, type Style } from '../../output.js'

/** The lines of an event; none for one of a newer server. Control characters of a snapshot are JSON escapes. */
export function triggerText(event: TriggerEvent, style: Style): readonly string[] {
  switch (event.event) {
    case 'block': {
      const { chainId, blockNumber, txHashes } = event
      const [first = ''] = txHashes
      const what = txHashes.length === 1 ? `payment  ${first}` : `payments ${txHashes.length}`
      return [`${what}   chain ${chainId}, block ${blockNumber}`]
    }
    case 'update':
      return [`update   ${shortHash(event.txHash)}   ${event.state}`]
    case 'snapshot':
      return [
        `snapshot ${shortHash(event.txHash)}   ${style.yellow(event.state ?? 'none')}   v${event.version}`,
        style.dim(escapeControls(event.body)),
      ]
    case 'delivery': {
      const { txHash, version, expected, status } = event
      const answer =
        status !== null && status >= 200 && status < 300 ? style.green(status) : style.red(status ?? 'none')
      return [`again    ${shortHash(txHash)}   v${version}, which is ${expected} now: answer ${answer}`]
    }
    case 'reorganised': {
      const place = event.included ? 'is in a new block: no new version' : 'left the chain'
      return [`reorg    ${shortHash(event.txHash)}   ${place}`]
    }
    case 'share':
      return [
        `share    ${style.dim(JSON.stringify(event.request))}`,
        `         ${event.status} ${JSON.stringify(event.answer)}`,
        ...(event.status === 422
          ? [style.dim('         The verdict is RED, and this is what a second share answers: no failure.')]
          : []),
      ]
    case 'failed':
      return [style.red(`failed   ${event.reason}`)]
    case 'done':
      return [style.green(`done     ${count(event.payments, 'payment')}, ${count(event.snapshots, 'snapshot')} shown`)]
    default:
      return []
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
