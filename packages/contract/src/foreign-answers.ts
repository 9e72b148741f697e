/** Prepares answers for undici's parser, and limits the time of an exchange. Source: RFC 9110, 9112. @module */
import { ForeignError } from './foreign-text.js'

/** The most bytes of an answer's head. */
export const maxAnswerHeadBytes = 16 * 1024
/** The most bytes that may arrive for one request, with informational answers, reason phrases, chunk extensions. */
export const maxAnswerBytes = 64 * 1024

/** The answer is not well-formed HTTP/1.1, or is larger than allowed. */
export class MalformedAnswerError extends ForeignError {
  override readonly name = 'MalformedAnswerError'
  readonly code = 'ERR_ANSWER_MALFORMED'
  /** HTTP status of the answer; null when none could be read. */
  readonly status: number | null
  /** @internal */
  constructor(status: number | null, options?: ErrorOptions) {
    super('The answer is not well-formed HTTP/1.1.', options)
    this.status = status
  }
}

/** The part of Node's `net.Socket` that is used. */
export interface AnswerSocket {
  readonly bytesWritten: number
  push(chunk: Uint8Array | null): boolean
  destroy(error?: Error): unknown
}

/** The errors of undici's parser for an answer that it cannot read. */
const parserErrors = new Set(['HTTPParserError', 'HeadersOverflowError', 'ResponseContentLengthMismatchError'])

/**
 * Makes undici 7 accept all that HTTP allows: drops informational answers (undici closes the connection at a 100), and
 * unfolds folded header fields. A malformed answer destroys the socket with a {@link MalformedAnswerError}, even if
 * only undici finds the flaw. For sockets without pipelining: bytes that arrive after a request begin its answer.
 *
 * It replaces the socket's `push` and `destroy`, because a separate stream in between costs more than the parser.
 */
export function filterAnswers(socket: AnswerSocket, maxBytes = maxAnswerBytes): void {
  const push = socket.push.bind(socket)
  const destroy = socket.destroy.bind(socket)
  const filter = new AnswerFilter(socket, maxBytes)
  socket.destroy = (error) =>
    destroy(
      error !== undefined && parserErrors.has(error.name)
        ? new MalformedAnswerError(filter.status, { cause: error })
        : error,
    )
  socket.push = (chunk) => {
    if (chunk === null) return push(null)
    try {
      const ready = filter.filterChunk(chunk)
      return ready === null || push(ready)
    } catch (error) {
      destroy(error as Error)
      return false
    }
  }
}

const [tab, lineFeed, carriageReturn, space] = [9, 10, 13, 32]
const version = new TextEncoder().encode('HTTP/1.')

/** The answers of one socket, chunk by chunk. */
class AnswerFilter {
  readonly #socket: AnswerSocket
  readonly #maxBytes: number
  /** Status of the newest head. */
  status: number | null = null
  /** Bytes of requests written before the newest answer began. More bytes mean a new request, so a new answer. */
  #requestBytes = -1
  #receivedBytes = 0
  #isInHead = true
  /** Bytes of a head whose end has not arrived, and how many of them were scanned. */
  #incompleteHead: Uint8Array | null = null
  #scannedBytes = 0

  constructor(socket: AnswerSocket, maxBytes: number) {
    this.#socket = socket
    this.#maxBytes = maxBytes
  }

  /** Returns the bytes that the parser may read; null while a head is incomplete. */
  filterChunk(chunk: Uint8Array): Uint8Array | null {
    if (this.#socket.bytesWritten !== this.#requestBytes) this.#beginAnswer()
    this.#receivedBytes += chunk.byteLength
    if (this.#receivedBytes > this.#maxBytes) throw new MalformedAnswerError(this.status)
    if (!this.#isInHead) return chunk
    let bytes = this.#incompleteHead === null ? chunk : concat(this.#incompleteHead, chunk)
    this.#incompleteHead = null
    while (bytes.byteLength > 0) {
      const end = this.#scanHead(bytes)
      if (end === null) {
        this.#incompleteHead = bytes
        return null
      }
      this.#scannedBytes = 0
      if (this.status === null || this.status >= 200) {
        this.#isInHead = false
        return bytes
      }
      // A 101 answers an upgrade, which no delivery requests. No status is below 100.
      if (this.status < 100 || this.status === 101) throw new MalformedAnswerError(this.status)
      bytes = bytes.subarray(end)
    }
    return null
  }

  #beginAnswer(): void {
    this.#requestBytes = this.#socket.bytesWritten
    this.#receivedBytes = 0
    this.#isInHead = true
    this.status = null
  }

  /** Unfolds the fields of a head. Returns the index after the head; null while the head is incomplete. */
  #scanHead(bytes: Uint8Array): number | null {
    const start = findStart(bytes)
    this.status = parseStatus(bytes, start)
    const headLimit = Math.min(bytes.length, start + maxAnswerHeadBytes)
    let at = bytes.indexOf(lineFeed, Math.max(this.#scannedBytes, start))
    for (; at !== -1 && at < headLimit; at = bytes.indexOf(lineFeed, at + 1)) {
      if (bytes[at - 1] !== carriageReturn) throw new MalformedAnswerError(this.status)
      if (bytes[at - 2] === lineFeed) return at + 1
      const next = bytes[at + 1]
      // Only the next byte shows whether the line is folded.
      if (next === undefined) break
      if (next === space || next === tab) bytes.fill(space, at - 1, at + 1)
    }
    if (bytes.length - start >= maxAnswerHeadBytes) throw new MalformedAnswerError(this.status)
    this.#scannedBytes = at === -1 ? bytes.length : at
    return null
  }
}

/** Skips empty lines: some servers send one after the previous answer. */
function findStart(bytes: Uint8Array): number {
  let start = 0
  while (bytes[start] === carriageReturn || bytes[start] === lineFeed) start++
  return start
}

/** The status of a head that begins at `start`, as in `HTTP/1.1 200`; null without a status of three digits. */
function parseStatus(bytes: Uint8Array, start: number): number | null {
  for (let index = 0; index < version.length && start + index < bytes.length; index++)
    if (bytes[start + index] !== version[index]) throw new MalformedAnswerError(null)
  const at = start + version.length + 1
  if (bytes[at] !== space || isDigit(bytes[at + 4])) return null
  const [hundreds, tens, ones] = [bytes[at + 1], bytes[at + 2], bytes[at + 3]]
  return isDigit(hundreds) && isDigit(tens) && isDigit(ones) ? hundreds * 100 + tens * 10 + ones - 48 * 111 : null
}

const isDigit = (byte: number | undefined): byte is number => byte !== undefined && byte >= 48 && byte <= 57

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.byteLength + second.byteLength)
  both.set(first)
  both.set(second, first.byteLength)
  return both
}

interface TimeLimit {
  /** Aborts when the time is up (`TimeoutError`), or with the caller's signal and its reason. */
  readonly signal: AbortSignal
  /** Rejects when the signal aborts, with its reason; for waits that take no signal. */
  readonly whenAborted: Promise<never>
  /** Frees the timer and the listener. */
  end(): void
}

/**
 * Starts a limit of `ms` milliseconds over every wait that takes its signal. `AbortSignal.any` around
 * `AbortSignal.timeout` is no such limit: Node 20 can garbage-collect the timeout before it fires.
 */
export function startTimeLimit(ms: number, outer?: AbortSignal): TimeLimit {
  const controller = new AbortController()
  const { signal } = controller
  const whenAborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  whenAborted.catch(() => undefined)
  const abort = () => controller.abort(outer?.reason)
  const timer = setTimeout(() => controller.abort(new DOMException(`No answer within ${ms} ms.`, 'TimeoutError')), ms)
  if (outer?.aborted === true) abort()
  else outer?.addEventListener('abort', abort, { once: true })
  return {
    signal,
    whenAborted,
    end() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', abort)
    },
  }
}
