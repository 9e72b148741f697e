/** Checks of a log's shape before it is read. @module */
import type { MalformedLog, RouterLog } from '../router-decoder.js'
import { byteLength } from './hex.js'

/** A log that is not what its first topic says. */
export function malformed(reason: string): MalformedLog {
  return { kind: 'malformed', reason }
}

/** What is wrong with the number of topics or of 32-byte words of data; null when both are right. */
export function unfit({ topics, data }: RouterLog, topicCount: number, wordCount: number): MalformedLog | null {
  if (topics.length !== topicCount) return malformed(`expected ${topicCount} topics, got ${topics.length}`)
  if (data.length === 2 + wordCount * 64) return null
  return malformed(`expected ${wordCount * 32} bytes of data, got ${byteLength(data)}`)
}
