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

const timeout = { reason: 'timeout' } as const
const connection = { reason: 'connection' } as const
const malformed = (status: number | null) => ({ reason: 'malformed_answer', status }) as const

/** Writes one piece after the other, until the connection ends; the last one stays. */
export function drip(socket: Socket, everyMs: number, ...pieces: readonly string[]): void {
  let n = 0
  const timer = setInterval(() => socket.write(pieces[Math.min(n++, pieces.length - 1)] ?? ''), everyMs)
  socket.on('close', () => clearInterval(timer))
}
/** Writes the piece as fast as the other side reads, until the connection ends. */
function flood(socket: Socket, head: string, piece: string): void {
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
const resets = (socket: Socket) => setTimeout(() => socket.resetAndDestroy(), 30)
const answer = (head: string, body: string | Buffer = '') =>
  Buffer.concat([Buffer.from(`HTTP/1.1 ${head}\r\n\r\n`, 'latin1'), Buffer.from(body)])

const letters = Buffer.alloc(20_000_000, 'z')
const bomb = (encoding: string, bytes: Buffer) =>
  says(answer(`200 OK\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${bytes.length}`, bytes))
/** The raw bytes as text, not decompressed. */
const packed = { status: 200, excerpt: /^(?!.*zzz)/s }

const slow: readonly HostileReceiver[] = [
  { name: 'never answers', outcome: timeout },
  { name: 'stops in the status line', onRequest: says('HTTP/1.1 20'), outcome: timeout },
  {
    name: 'drips the status line',
    onRequest: (socket) => drip(socket, 40, ...'HTTP/1.1 200 OK\r\n'),
    outcome: timeout,
  },
  {
    name: 'drips headers',
    onRequest: (socket) => drip(socket, 20, 'HTTP/1.1 200 OK\r\n', 'X-Drip: a\r\n'),
    outcome: timeout,
  },
  {
    name: 'drips informational answers',
    onRequest: (socket) => drip(socket, 40, 'HTTP/1.1 103 Early Hints\r\n\r\n'),
    outcome: timeout,
  },
  {
    name: 'drips the body',
    onRequest: (socket) => drip(socket, 20, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\na\r\n'),
    outcome: { status: 200, excerpt: /^a+$/ },
  },
  {
    name: 'stops in the body and keeps the connection',
    onRequest: says(answer('200 OK\r\nContent-Length: 100', 'half')),
    outcome: { status: 200, excerpt: 'half' },
  },
  {
    name: 'sends no body and does not close',
    onRequest: says(answer('500 Oops')),
    outcome: { status: 500, excerpt: null },
  },
]

const large: readonly HostileReceiver[] = [
  {
    name: 'sends header lines without end',
    onRequest: (socket) => flood(socket, 'HTTP/1.1 200 OK\r\n', 'X-More: a\r\n'.repeat(2_000)),
    outcome: malformed(200),
  },
  {
    name: 'sends one header without end',
    onRequest: (socket) => flood(socket, 'HTTP/1.1 200 OK\r\nX-Long: ', 'a'.repeat(10_000)),
    outcome: malformed(200),
  },
  {
    name: 'sends a reason phrase without end',
    onRequest: (socket) => flood(socket, 'HTTP/1.1 200 ', 'a'.repeat(10_000)),
    outcome: malformed(200),
  },
  {
    name: 'sends informational answers without end',
    onRequest: (socket) => flood(socket, '', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(500)),
    outcome: malformed(103),
  },
  {
    name: 'sends a body without end',
    onRequest: (socket) =>
      flood(socket, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', `4000\r\n${'a'.repeat(16_384)}\r\n`),
    outcome: { status: 200, excerpt: 'a'.repeat(1_024) },
  },
  {
    name: 'announces a terabyte',
    onRequest: says(answer('200 OK\r\nContent-Length: 1000000000000', 'beginning')),
    outcome: { status: 200, excerpt: 'beginning' },
  },
  {
    name: 'sends a chunk extension without end',
    onRequest: (socket) =>
      flood(socket, answer('200 OK\r\nTransfer-Encoding: chunked', '1;').toString(), 'x'.repeat(10_000)),
    outcome: { status: 200, excerpt: null },
  },
  {
    name: 'sends trailers without end',
    onRequest: (socket) =>
      flood(
        socket,
        answer('200 OK\r\nTransfer-Encoding: chunked', '1\r\na\r\n0\r\n').toString(),
        'X-More: a\r\n'.repeat(2_000),
      ),
    outcome: { status: 200, excerpt: 'a' },
  },
  { name: 'sends a gzip bomb', onRequest: bomb('gzip', gzipSync(letters)), outcome: packed },
  { name: 'sends a brotli bomb', onRequest: bomb('br', brotliCompressSync(letters)), outcome: packed },
  {
    name: 'sends a bomb in a bomb',
    onRequest: bomb('gzip, gzip', gzipSync(gzipSync(letters))),
    outcome: packed,
  },
  {
    name: 'sends a huge Retry-After',
    onRequest: says(answer(`503 X\r\nRetry-After: ${'9'.repeat(9_000)}\r\nContent-Length: 0`)),
    outcome: { status: 503, excerpt: null },
  },
]

const abrupt: readonly HostileReceiver[] = [
  { name: 'closes at once', onConnect: ends, outcome: connection },
  { name: 'resets at once', onConnect: (socket) => socket.resetAndDestroy(), outcome: connection },
  { name: 'closes after the request', onRequest: ends, outcome: connection },
  { name: 'resets after the request', onRequest: (socket) => socket.resetAndDestroy(), outcome: connection },
  { name: 'resets in the status line', onRequest: says('HTTP/1.1 2', resets), outcome: connection },
  { name: 'resets in the headers', onRequest: says('HTTP/1.1 200 OK\r\nX-A: b', resets), outcome: connection },
  {
    name: 'resets in the body',
    onRequest: says(answer('200 OK\r\nContent-Length: 9', 'half'), resets),
    outcome: { status: 200, excerpt: 'half' },
  },
  {
    name: 'closes before the announced length',
    onRequest: says(answer('200 OK\r\nContent-Length: 9', 'half'), ends),
    outcome: { status: 200, excerpt: 'half' },
  },
  {
    name: 'answers before the request',
    onConnect: (socket) => socket.end(answer('200 OK\r\nContent-Length: 5', 'early')),
    outcome: { status: 200, excerpt: 'early' },
  },
]

const broken: readonly HostileReceiver[] = [
  { name: 'speaks HTTP/0.9', onRequest: says('<html>ok</html>', ends), outcome: malformed(null) },
  { name: 'speaks HTTP/2', onRequest: says('\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x64', ends), outcome: malformed(null) },
  { name: 'speaks SMTP', onConnect: (socket) => socket.write('220 mail ESMTP\r\n'), outcome: malformed(null) },
  { name: 'sends a status of letters', onRequest: says('HTTP/1.1 abc OK\r\n\r\n'), outcome: malformed(null) },
  { name: 'sends a status of six digits', onRequest: says('HTTP/1.1 200200 OK\r\n\r\n'), outcome: malformed(null) },
  { name: 'sends status 0', onRequest: says(answer('000 X\r\nContent-Length: 0')), outcome: malformed(0) },
  { name: 'sends another version', onRequest: says('HTTP/9.9 200 OK\r\n\r\n'), outcome: malformed(null) },
  { name: 'sends 100 and nothing else', onRequest: says(answer('100 Continue')), outcome: timeout },
  { name: 'closes after a 100', onRequest: says(answer('100 Continue'), ends), outcome: connection },
  { name: 'sends 101 without an upgrade', onRequest: says(answer('101 X')), outcome: malformed(101) },
  {
    name: 'switches protocols',
    onRequest: says(answer('101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade')),
    outcome: malformed(101),
  },
  {
    name: 'sends a header with NUL',
    onRequest: says(answer('200 OK\r\nX-A: a\0b\r\nContent-Length: 0')),
    outcome: malformed(200),
  },
  {
    name: 'sends a header without a name',
    onRequest: says(answer('200 OK\r\n: a\r\nContent-Length: 0')),
    outcome: malformed(200),
  },
  {
    name: 'sends two lengths',
    onRequest: says(answer('200 OK\r\nContent-Length: 1\r\nContent-Length: 2', 'ab')),
    outcome: malformed(200),
  },
  { name: 'sends a negative length', onRequest: says(answer('200 OK\r\nContent-Length: -1')), outcome: malformed(200) },
  {
    name: 'sends length and chunks',
    onRequest: says(answer('200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked', '0\r\n\r\n')),
    outcome: malformed(200),
  },
  {
    name: 'sends a chunk size of letters',
    onRequest: says(answer('200 OK\r\nTransfer-Encoding: chunked', 'zz\r\nabc\r\n')),
    outcome: { status: 200, excerpt: null },
  },
  {
    name: 'sends a chunk of 2^64 bytes',
    onRequest: says(answer('200 OK\r\nTransfer-Encoding: chunked', 'ffffffffffffffff1\r\nabc\r\n')),
    outcome: { status: 200, excerpt: null },
  },
  {
    name: 'sends 204 with a body',
    onRequest: says(answer('204 No Content\r\nContent-Length: 4', 'body')),
    outcome: { status: 204, excerpt: null },
  },
  {
    name: 'sends more than the announced length',
    onRequest: says(answer('200 OK\r\nContent-Length: 2', 'ok, and more')),
    outcome: { status: 200, excerpt: 'ok' },
  },
  {
    name: 'sends controls for a terminal',
    onRequest: says(answer('200 OK\r\nContent-Length: 20', '\x1b[2J\0a\u202eb\tc\nd\x7f\u0085\xff'), ends),
    outcome: { status: 200, excerpt: /^\[2Jab\tc\nd/ },
  },
  {
    name: 'sends cookies',
    onRequest: says(answer('200 OK\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d; Domain=.\r\nContent-Length: 0')),
    outcome: { status: 200, excerpt: null },
  },
]

/** Answers that HTTP allows, and that few servers give. */
const unusual: readonly HostileReceiver[] = [
  ...[100, 102, 103, 104, 199].map((status) => ({
    name: `sends ${status} before its answer`,
    onRequest: says(answer(`${status} X`, answer('200 OK\r\nContent-Length: 4', 'last'))),
    outcome: { status: 200, excerpt: 'last' },
  })),
  {
    name: 'sends several informational answers, in pieces, before its answer',
    onRequest: (socket) =>
      drip(
        socket,
        5,
        ...[
          'HTTP/1.1 1',
          '00 Continue\r\nContent-Length: 5\r',
          '\n\r\nHTTP/1.1 103 X\r\nLink: </a>\r\n\r',
          '\nHTTP/1.1 ',
        ],
        ...['202 Accepted\r\nContent-Length: 4\r\n\r\nla', 'st', ''],
      ),
    outcome: { status: 202, excerpt: 'last' },
  },
  {
    name: 'sends a 204 with a folded field',
    onRequest: says(answer('204 No Content\r\nX-Long: a,\r\n b,\r\n\tc')),
    outcome: { status: 204, excerpt: null },
  },
  {
    name: 'sends folded fields in pieces',
    onRequest: (socket) =>
      drip(socket, 5, ...['HTTP/1.1 200 OK\r\nX:\r\n', ' a\r', '\n\t\r', '\nContent-Length: 2\r\n\r\no', 'k', '']),
    outcome: { status: 200, excerpt: 'ok' },
  },
  {
    name: 'sends a folded length of the body',
    onRequest: says(answer('200 OK\r\nContent-Length:\r\n 2', 'ok')),
    outcome: { status: 200, excerpt: 'ok' },
  },
  {
    name: 'sends a body that looks folded',
    onRequest: says(answer('200 OK\r\nContent-Length: 10', '\r\n a\r\n\tb\r\n')),
    outcome: { status: 200, excerpt: /^\r?\n a\r?\n\tb\r?\n$/ },
  },
  {
    name: 'offers HTTP/2 in a 200, as Apache does',
    onRequest: says(answer('200 OK\r\nUpgrade: h2,h2c\r\nConnection: Upgrade\r\nContent-Length: 2', 'ok')),
    outcome: { status: 200, excerpt: 'ok' },
  },
  { name: 'sends no reason phrase', onRequest: says('HTTP/1.1 204\r\n\r\n'), outcome: { status: 204, excerpt: null } },
  {
    name: 'sends an empty line before its answer',
    onRequest: says('\r\nHTTP/1.1 204 No Content\r\n\r\n'),
    outcome: { status: 204, excerpt: null },
  },
  {
    name: 'speaks HTTP/1.0 until it closes',
    onRequest: says('HTTP/1.0 200 OK\r\n\r\nok', ends),
    outcome: { status: 200, excerpt: 'ok' },
  },
  {
    name: 'sends bytes beyond ASCII in its head',
    onRequest: says('HTTP/1.1 200 \xfc\r\nX: \xfc\r\nContent-Length: 2\r\n\r\nok'),
    outcome: { status: 200, excerpt: 'ok' },
  },
]

/** Answers that HTTP lets a client reject. */
const malformedAnswers: readonly HostileReceiver[] = [
  { name: 'ends lines in LF', onRequest: says('HTTP/1.1 200 OK\nContent-Length: 0\n\n'), outcome: malformed(200) },
  { name: 'ends one line in LF', onRequest: says(answer('200 OK\r\nX: a\nY: b')), outcome: malformed(200) },
  { name: 'sends a name with a space', onRequest: says(answer('204 X\r\nX A: b')), outcome: malformed(204) },
  { name: 'sends a space before a colon', onRequest: says(answer('204 X\r\nX-A : b')), outcome: malformed(204) },
  { name: 'sends a line without a colon', onRequest: says(answer('503 X\r\nfoo')), outcome: malformed(503) },
  {
    name: 'sends the same length twice',
    onRequest: says(answer('200 OK\r\nContent-Length: 2\r\nContent-Length: 2', 'ab')),
    outcome: malformed(200),
  },
  {
    name: 'sends a head over 16 KB',
    onRequest: says(answer(`200 OK\r\nX: ${'a'.repeat(16_400)}`)),
    outcome: malformed(200),
  },
  {
    name: 'sends a malformed answer after a 100',
    onRequest: says(answer('100 Continue', answer('200 OK\r\n: a'))),
    outcome: malformed(200),
  },
  { name: 'ends the lines of a 100 in LF', onRequest: says('HTTP/1.1 100 Continue\n\n'), outcome: malformed(100) },
]

/** Whether a receiver never ends its answer, so that only the budget ends the POST. */
export const isSlow = (receiver: HostileReceiver): boolean =>
  slow.includes(receiver) || ('reason' in receiver.outcome && receiver.outcome.reason === 'timeout')

/** Every receiver that needs nothing but a socket. */
export const hostileReceivers: readonly HostileReceiver[] = [
  ...[...slow, ...large, ...abrupt, ...broken],
  ...[...unusual, ...malformedAnswers],
]
