/** Receivers that misbehave over HTTP, and the expected result of each. */
import type { Socket } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'

/** The expected result of a POST. A text is the whole excerpt. */
export type Outcome =
  | { readonly status: number; readonly excerpt?: string | null | RegExp }
  | { readonly reason: 'timeout' | 'connection' }
  | { readonly reason: 'malformed_answer'; readonly status: number | null }

export interface HostileReceiver {
  readonly name: string
  /** Called for each connection, before it sent anything. */
  readonly onConnect?: ((socket: Socket) => void) | undefined
  /** Called when a request's head arrived; `nth` counts the connection's requests from 1. */
  readonly onRequest?: ((socket: Socket, nth: number) => void) | undefined
  readonly outcome: Outcome
}

type Row = readonly [name: string, outcome: Outcome, onRequest?: HostileReceiver['onRequest']]

const timeout = { reason: 'timeout' } as const
const connection = { reason: 'connection' } as const
const malformed = (status: number | null) => ({ reason: 'malformed_answer', status }) as const
const told = (status: number, excerpt: string | null | RegExp = null) => ({ status, excerpt })

/** Writes one piece after the other, until the connection ends; the last one stays. */
export function drip(socket: Socket, everyMs: number, ...pieces: readonly string[]): void {
  let n = 0
  const timer = setInterval(() => socket.write(pieces[Math.min(n++, pieces.length - 1)] ?? ''), everyMs)
  socket.on('close', () => clearInterval(timer))
}
const drips =
  (everyMs: number, ...pieces: readonly string[]) =>
  (socket: Socket) =>
    drip(socket, everyMs, ...pieces)
/** Writes the piece as fast as the other side reads, until the connection ends. */
const floods = (head: string, piece: string) => (socket: Socket) => {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  }
  socket.on('drain', more)
  socket.write(head)
  more()
}
const says =
  (text: string | Buffer, then?: (socket: Socket) => void): HostileReceiver['onRequest'] =>
  (socket) => {
    socket.write(text, 'latin1')
    then?.(socket)
  }
const ends = (socket: Socket) => socket.end()
/** Resets after written bytes had time to arrive: a reset drops bytes in transit. */
const resets = (socket: Socket) => setTimeout(() => setImmediate(() => socket.resetAndDestroy()), 30)
const head = (text: string, body: string | Buffer = '') =>
  Buffer.concat([Buffer.from(`HTTP/1.1 ${text}\r\n\r\n`, 'latin1'), Buffer.from(body)])
const answers = (text: string, body: string | Buffer = '', then?: (socket: Socket) => void) =>
  says(head(text, body), then)

const letters = Buffer.alloc(20_000_000, 'z')
const bomb = (encoding: string, bytes: Buffer) =>
  answers(`200 OK\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${bytes.length}`, bytes)
/** The raw bytes as text, not decompressed. */
const packed = told(200, /^(?!.*zzz)/s)
const chunked = 'Transfer-Encoding: chunked'
const chunks = `200 OK\r\n${chunked}`

const slow: readonly Row[] = [
  ['never answers', timeout],
  ['drips the status line', timeout, drips(40, ...'HTTP/1.1 200 OK\r\n')],
  ['drips headers', timeout, drips(20, 'HTTP/1.1 200 OK\r\n', 'X-Drip: a\r\n')],
  ['drips informational answers', timeout, drips(40, 'HTTP/1.1 103 Early Hints\r\n\r\n')],
  ['drips the body', told(200, /^a+$/), drips(20, `HTTP/1.1 200 OK\r\n${chunked}\r\n\r\n1\r\na\r\n`, '1\r\na\r\n')],
  ['stops in the body and keeps the connection', told(200, 'half'), answers('200 OK\r\nContent-Length: 100', 'half')],
  ['sends no body and does not close', told(500), answers('500 Oops')],
]

const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(500)
const chunk = `4000\r\n${'a'.repeat(16_384)}\r\n`
const tenThousand = 'a'.repeat(10_000)
const moreFields = 'X-More: a\r\n'.repeat(2_000)
const large: readonly Row[] = [
  ['sends header lines without end', malformed(200), floods('HTTP/1.1 200 OK\r\n', moreFields)],
  ['sends one header without end', malformed(200), floods('HTTP/1.1 200 OK\r\nX-Long: ', tenThousand)],
  ['sends a reason phrase without end', malformed(200), floods('HTTP/1.1 200 ', tenThousand)],
  ['sends informational answers without end', malformed(103), floods('', hints)],
  ['sends a body without end', told(200, 'a'.repeat(1_024)), floods(`${head(chunks)}`, chunk)],
  ['announces a terabyte', told(200, 'beginning'), answers('200 OK\r\nContent-Length: 1000000000000', 'beginning')],
  ['sends a chunk extension without end', told(200), floods(`${head(chunks, '1;')}`, tenThousand)],
  ['sends trailers without end', told(200, 'a'), floods(`${head(chunks, '1\r\na\r\n0\r\n')}`, moreFields)],
  ['sends a gzip bomb', packed, bomb('gzip', gzipSync(letters))],
  ['sends a brotli bomb', packed, bomb('br', brotliCompressSync(letters))],
  ['sends a huge Retry-After', told(503), answers(`503 X\r\nRetry-After: ${'9'.repeat(9_000)}\r\nContent-Length: 0`)],
]

const abrupt: readonly Row[] = [
  ['closes after the request', connection, ends],
  ['resets after the request', connection, (socket) => socket.resetAndDestroy()],
  ['resets in the status line', connection, says('HTTP/1.1 2', resets)],
  ['resets in the body', told(200, 'half'), answers('200 OK\r\nContent-Length: 9', 'half', resets)],
  ['closes before the announced length', told(200, 'half'), answers('200 OK\r\nContent-Length: 9', 'half', ends)],
]

const controls = answers('200 OK\r\nContent-Length: 20', '\x1b[2J\0a\u202eb\tc\nd\x7f\u0085\xff', ends)
const upgrade = '101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade'
const broken: readonly Row[] = [
  ['speaks HTTP/0.9', malformed(null), says('<html>ok</html>', ends)],
  ['speaks HTTP/2', malformed(null), says('\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x64', ends)],
  ['sends a status of letters', malformed(null), says('HTTP/1.1 abc OK\r\n\r\n')],
  ['sends status 0', malformed(0), answers('000 X\r\nContent-Length: 0')],
  ['sends 100 and nothing else', timeout, answers('100 Continue')],
  ['closes after a 100', connection, answers('100 Continue', '', ends)],
  ['switches protocols', malformed(101), answers(upgrade)],
  ['sends a header with NUL', malformed(200), answers('200 OK\r\nX-A: a\0b\r\nContent-Length: 0')],
  ['sends two lengths', malformed(200), answers('200 OK\r\nContent-Length: 1\r\nContent-Length: 2', 'ab')],
  ['sends length and chunks', malformed(200), answers(`200 OK\r\nContent-Length: 3\r\n${chunked}`, '0\r\n\r\n')],
  ['sends a chunk size of letters', told(200), answers(`200 OK\r\n${chunked}`, 'zz\r\nabc\r\n')],
  ['sends 204 with a body', told(204), answers('204 No Content\r\nContent-Length: 4', 'body')],
  ['sends more than the announced length', told(200, 'ok'), answers('200 OK\r\nContent-Length: 2', 'ok, and more')],
  ['sends controls for a terminal', told(200, /^\[2Jab\tc\nd/), controls],
  ['ends lines in LF', malformed(200), says('HTTP/1.1 200 OK\nContent-Length: 0\n\n')],
  ['sends a line without a colon', malformed(503), answers('503 X\r\nfoo')],
  ['sends a head over 16 KB', malformed(200), answers(`200 OK\r\nX: ${'a'.repeat(16_400)}`)],
  ['sends a malformed answer after a 100', malformed(200), answers('100 Continue', head('200 OK\r\n: a'))],
]

const pieces = [
  ...['HTTP/1.1 1', '00 Continue\r\nContent-Length: 5\r', '\n\r\nHTTP/1.1 103 X\r\nLink: </a>\r\n\r', '\nHTTP/1.1 '],
  ...['202 Accepted\r\nContent-Length: 4\r\n\r\nla', 'st', ''],
]
const folded = ['HTTP/1.1 200 OK\r\nX:\r\n', ' a\r', '\n\t\r', '\nContent-Length: 2\r\n\r\no', 'k', '']
/** Answers that HTTP allows, and that few servers give. */
const unusual: readonly Row[] = [
  ['sends 103 before its answer', told(200, 'last'), answers('103 X', head('200 OK\r\nContent-Length: 4', 'last'))],
  ['sends informational answers in pieces before its answer', told(202, 'last'), drips(5, ...pieces)],
  ['sends folded fields in pieces', told(200, 'ok'), drips(5, ...folded)],
  ['sends a folded length of the body', told(200, 'ok'), answers('200 OK\r\nContent-Length:\r\n 2', 'ok')],
  ['sends no reason phrase', told(204), says('HTTP/1.1 204\r\n\r\n')],
  ['sends an empty line before its answer', told(204), says('\r\nHTTP/1.1 204 No Content\r\n\r\n')],
  ['speaks HTTP/1.0 until it closes', told(200, 'ok'), says('HTTP/1.0 200 OK\r\n\r\nok', ends)],
  ['sends bytes beyond ASCII in its head', told(200, 'ok'), answers('200 \xfc\r\nX: \xfc\r\nContent-Length: 2', 'ok')],
]

/** Whether a receiver never ends its answer, so that only the budget ends the POST. */
export const isSlow = ({ name, outcome }: HostileReceiver): boolean =>
  slow.some(([each]) => each === name) || ('reason' in outcome && outcome.reason === 'timeout')

/** Every receiver that needs nothing but a socket. */
export const hostileReceivers: readonly HostileReceiver[] = [
  ...[...slow, ...large, ...abrupt, ...broken, ...unusual].map(([name, outcome, onRequest]) => {
    return { name, outcome, onRequest }
  }),
  { name: 'closes at once', onConnect: ends, outcome: connection },
  { name: 'speaks SMTP', onConnect: (socket) => socket.write('220 mail ESMTP\r\n'), outcome: malformed(null) },
  {
    name: 'answers before the request',
    onConnect: (socket) => socket.end(head('200 OK\r\nContent-Length: 5', 'early')),
    outcome: told(200, 'early'),
  },
]
