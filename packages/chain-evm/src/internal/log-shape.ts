/** Checks of a log's shape before it is read. @module */
import type { MalformedLog, RouterLog } from '../router-decoder.js'
import { byteLength, isLowerHex } from './hex.js'

/** A log that is not what its first topic says. */
export function malformed(reason: string): MalformedLog {
  return { kind: 'malformed', reason }
}

const topicShape = /^0x[0-9a-f]{64}$/

/** The flaw of topics (32 bytes each) or of data (32-byte words), both lowercase hex; null when there is none. */
export function unfit({ topics, data }: RouterLog, topicCount: number, wordCount: number): MalformedLog | null {
  if (topics.length !== topicCount) return malformed(`expected ${topicCount} topics, got ${topics.length}`)
  const odd = topics.findIndex((topic) => !topicShape.test(topic))
  if (odd >= 0) return malformed(`topic ${odd} is no 32 bytes of lowercase hex`)
  if (data.length !== 2 + wordCount * 64)
    return malformed(`expected ${wordCount * 32} bytes of data, got ${byteLength(data)}`)
  return isLowerHex(data) ? null : malformed('data is no lowercase hex')
}
