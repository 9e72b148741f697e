import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { createVerifier } from '@payment-integration/webhook'
import { expect, test } from 'vitest'
import { createBuilders, createDeliveries, createFakeClock, type SignedDelivery } from '../exports/index.js'
import { explainDelivery } from './explain-delivery.js'
import type { ExplainInput } from './explain-input.js'
import { descriptions, type FindingCode, frameworkLines } from './finding.js'

const secret = 'pi_whsec_Zm9yIHRlc3RzIG9ubHksIG5ldmVyIGlzc3VlZA'
const apiSecret = 'pi_api_YW5vdGhlciB0ZXN0IHZhbHVlLCBub3QgYSBzZWNyZXQ'
const clock = createFakeClock()
const build = createBuilders({ seed: 7, clock })
const deliveries = createDeliveries({ secret, clock })
const snapshot = build.snapshot({
  version: 3,
  state: 'success',
  recipient: { title: 'Café "Zoë" & Söhne/Co', subtitle: null },
  invoice: { amount: '12.50', currency: 'EUR', settlementAmount: '13.61', settlementCurrency: 'USD' },
})
const good = await deliveries.good(snapshot)
const text = new TextDecoder().decode(good.body)
const signature = good.headers['X-Service-Signature'] ?? ''
const [t = '', v1 = ''] = signature.split(',').map((field) => field.split('=')[1] ?? '')

type Change = Partial<ExplainInput>
const withSignature = (value: string | string[]): Change => ({
  headers: { ...good.headers, 'X-Service-Signature': value },
})
const withBody = (body: ExplainInput['body']): Change => ({ body })
const withSecret = (value: string, more: Change = {}): Change => ({ secrets: [value], ...more })
const without = (name: string): Change => ({
  headers: Object.fromEntries(Object.entries(good.headers).filter(([each]) => each !== name)),
})
const signed = async (body: string): Promise<SignedDelivery> => {
  const { headers } = await deliveries.duplicate({ headers: good.headers, body: new TextEncoder().encode(body) })
  return { headers, body: new TextEncoder().encode(body) }
}
const explain = (change: Change) => explainDelivery({ ...good, secrets: [secret], clock, ...change })
const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')
const withJson = (body: unknown): Change => withBody(JSON.stringify(body))
const reversed = Object.fromEntries(Object.entries(snapshot).reverse())
const numbers = { ...snapshot, version: '3', invoice: { ...snapshot.invoice, amount: 12.5 } }
const upperIntegration = { 'X-Service-Integration': snapshot.integrationAddress.toUpperCase() }
const cut = (length: string): Change => ({ headers: { ...good.headers, 'content-length': length } })
const indented = JSON.stringify(snapshot, null, 2)
const base64 = btoa(latin1(good.body))

type Case = readonly [code: FindingCode, name: string, change: Change, evidence: RegExp, proved?: boolean]
const cases: readonly Case[] = [
  ['signature_missing', 'no signature header', without('X-Service-Signature'), /Content-Type, X-Service-Integration/],
  ['signature_other_name', 'CGI', { headers: { HTTP_X_SERVICE_SIGNATURE: signature } }, /HTTP_X_SERVICE/],
  ['signature_repeated', 'twice', withSignature([signature, signature]), /2 times/],
  ['time_in_milliseconds', 't in ms', withSignature(`t=${t}000,v1=${v1}`), /13 digits/],
  ['signature_upper_case', 'capitals', withSignature(`t=${t},v1=${v1.toUpperCase()}`), /upper case/],
  ['signature_mangled', 'quotes', withSignature(`"t=${t},v1=${v1}"`), /quotes/],
  ['signature_mangled', 'percent', withSignature(encodeURIComponent(signature)), /percent/],
  ['signature_mangled', 'semicolon', withSignature(`t=${t};v1=${v1}`), /separated/],
  ['signature_mangled', 'blanks', withSignature(`t = ${t}, v1 = ${v1}`), /white space/],
  ['signature_truncated', 'cut', withSignature(signature.slice(0, -10)), /54 hex digits/],
  ['signature_malformed', 'text', withSignature('hello'), /0 fields t/],
  ['signature_malformed', 'junk field', withSignature(`${signature},junk`), /not name=value/],
  ['signature_malformed', 'long', withSignature(`${signature},x=${'y'.repeat(65_536)}`), /4096/],
  ['scheme_unknown', 'v2', withSignature(`t=${t},v2=${v1}`), /v2/],
  ['secret_empty', 'empty', withSecret(''), /secret 1/],
  ['secrets_swapped', 'swapped', withSecret(apiSecret, { apiSecret: secret }), /API secret/],
  ['secret_is_api_secret', 'the API secret', withSecret(apiSecret, { apiSecret }), /equals/],
  ['secret_previous', 'rotation', withSecret('pi_whsec_new', { previousSecrets: [secret] }), /previous secret 1/],
  ['secret_whitespace', 'newline', withSecret(`${secret}\n`), /secret 1/],
  ['secret_whitespace', 'written newline', withSecret(`${secret}\\n`), /around the secret: 2/],
  ['secret_quoted', 'quotes', withSecret(`"${secret}"`), /Quotes/],
  ['secret_assignment', 'a line', withSecret(`WEBHOOK_SIGNING_SECRET=${secret}`), /equals sign/],
  ['secret_list', 'two in one', withSecret(`pi_whsec_other,${secret}`), /Number 2 of 2/],
  ['secret_encoded', 'base64', withSecret(btoa(secret)), /base64/],
  ['secret_encoded', 'hex', withSecret(Buffer.from(secret).toString('hex')), /hex/],
  ['secret_prefix', 'no prefix', withSecret(secret.slice('pi_whsec_'.length)), /pi_whsec_/],
  ['secret_wrong', 'another', withSecret('pi_whsec_other'), /those of the service/, false],
  ['body_parsed', 'an object', withBody(snapshot), /neither bytes/],
  ['body_missing', 'empty', withBody(''), /0 bytes/],
  ['body_object_string', '[object Object]', withBody(String({})), /15 bytes/],
  ['body_too_large', 'above the limit', withBody(`${text}${' '.repeat(300_000)}`), /bytes/],
  ['body_too_large', 'above a megabyte', withBody(new Uint8Array(1_048_577)), /1048577/],
  ['body_envelope', 'Lambda', withJson({ body: base64, isBase64Encoded: true }), /isBase64Encoded/],
  ['body_envelope', 'queue', withJson({ Records: 1, Message: text }), /Message/],
  ['body_stringified_bytes', 'Buffer', withJson(Buffer.from(good.body)), /Buffer/],
  ['body_stringified_bytes', 'map', withJson(good.body), /index/],
  ['body_stringified_bytes', 'list', withBody(String(good.body)), /commas/],
  ['body_double_encoded', 'twice', withJson(text), /one JSON text/],
  ['body_escaped', 'log', withBody(JSON.stringify(text).slice(1, -1)), /Backslashes/],
  ['body_escaped', 'quoted', withBody(`'${text}'`), /Quotes/],
  ['body_form_encoded', 'form', withBody(`payload=${encodeURIComponent(text)}`), /form field/],
  ['body_form_encoded', 'parsed form', withJson({ [text]: '' }), /name of a form field/],
  ['body_base64', 'base64', withBody(base64), /base64/],
  ['body_hex', 'hex', withBody(`\\x${Buffer.from(good.body).toString('hex')}`), /hex/],
  ['body_compressed', 'gzip', withBody(gzipSync(good.body)), /gzip/],
  ['body_chunked', 'chunks', withBody(`${good.body.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`), /Chunk sizes/],
  ['body_byte_order_mark', 'BOM', withBody(`\ufeff${text}`), /EF BB BF/],
  ['body_charset', 'mojibake', withBody(latin1(good.body)), /Latin-1/],
  ['body_charset', 'Latin-1', withBody(Buffer.from(text, 'latin1')), /not UTF-8/],
  ['body_newline', 'added', withBody(`${text}\r\n`), /line end: 2/],
  ['body_newline', 'removed', { headers: (await signed(`${text}\n`)).headers }, /missing line end: 1/],
  ['body_line_ends', 'CRLF', { ...(await signed(indented)), body: indented.replaceAll('\n', '\r\n') }, /CRLF/],
  ['body_padded', 'NUL', withBody(`${text}\0\0\0`), /NUL bytes around it: 3/],
  ['body_truncated', 'two marks', withBody(text.slice(0, -2)), /missing: 2/],
  ['body_truncated', 'half', withBody(text.slice(0, 100)), /no end/, false],
  ['body_truncated', 'Content-Length', { ...cut('999'), body: text.slice(0, 200) }, /Content-Length is 999/, false],
  ['body_truncated', '16-digit length', { ...cut('9'.repeat(16)), body: text.slice(0, 200) }, /no end/, false],
  ['body_reencoded', 'indented', withBody(indented), /indented/],
  ['body_reencoded', 'PHP', withBody(text.replaceAll('/', '\\/').replaceAll('é', '\\u00e9')), /uXXXX/],
  ['body_reordered', 'sorted', withJson(reversed), /order of the contract/],
  ['body_changed', 'numbers', withJson(numbers), /Wrong or missing: version, invoice[.]amount/, false],
  ['body_replaced_characters', 'U+FFFD', withBody(text.replace('é', '\ufffd\ufffd')), /characters: 2/, false],
  ['body_not_json', 'HTML page', withBody('<html>blocked</html>'), /not JSON/],
  ['body_changed', 'another title', withJson({ ...snapshot, recipient: 'Other' }), /missing: recipient/, false],
  ['delivery_stale', 'old', { clock: { now: () => clock.now() + 301_000 } }, /301 seconds before/],
  ['delivery_stale', 'time zone', { clock: { now: () => clock.now() + 7_200_000 } }, /2 hours/],
  ['delivery_future', 'ahead', { clock: { now: () => clock.now() - 302_000 } }, /seconds after/],
  ['integration_missing', 'no header', without('X-Service-Integration'), /absent/],
  ['integration_mismatch', 'another', await deliveries.misrouted(snapshot), /different/],
  ['integration_mismatch', 'capitals', { headers: { ...good.headers, ...upperIntegration } }, /capital letters/],
  ['snapshot_invalid', 'signed junk', await signed('{"integrationAddress":"0x","version":0}'), /version/],
]

const planted = cases.map(([code, name, change, evidence, proved = true]) => ({ code, name, change, evidence, proved }))

test.each(planted)('$code is found: $name', async ({ code, change, evidence, proved }) => {
  const explained = await explain(change)
  const { verified, findings } = explained
  expect(verified).toBe(false)
  expect(findings[0]).toMatchObject({ code, proved })
  expect(findings[0]?.evidence.join(' ')).toMatch(evidence)
  // No secret, signature or value of the body, and no part of one.
  const printed = JSON.stringify(explained)
  for (const part of [secret.slice(9, 19), secret.slice(-10), apiSecret.slice(7, 17), v1.slice(0, 10), v1.slice(-10)])
    expect(printed).not.toContain(part)
  for (const part of [snapshot.txHash.slice(2, 12), snapshot.integrationAddress.slice(2, 12), 'Zoë', '13.61'])
    expect(printed).not.toContain(part)
})

test('the table has a case for every code', () => {
  expect([...new Set(cases.map(([code]) => code))].sort()).toEqual(Object.keys(descriptions).sort())
})

test('a genuine delivery verifies with a report of every field', async () => {
  const [old, current] = [{ name: 'OLD', value: 'pi_whsec_old' } as const, { name: 'NEW', value: secret } as const]
  const ok = (name: string, length: number) => ({ name, length, status: 'ok' })
  expect(await explain({ secrets: [old, current] })).toEqual({
    verified: true,
    signature: 'matches',
    header: { count: 1, fields: [ok('t', 10), ok('v1', 64)], t: Number(t), schemes: ['v1'], unknownFields: [] },
    ageSeconds: 0,
    toleranceSeconds: 300,
    bodyBytes: good.body.length,
    signedBytes: good.body.length + 11,
    signedBy: 'NEW',
    findings: [],
  })
})

test('two changes of the body and one of the secret are all proved', async () => {
  const body = `\ufeff${JSON.stringify(reversed, null, 2)}\n`
  const late = { now: () => clock.now() + 400_000 }
  const { signature, findings } = await explain({ body, secrets: [`"${secret}"`], clock: late })
  expect(signature).toBe('repaired')
  const codes = ['secret_quoted', 'body_byte_order_mark', 'body_reordered', 'delivery_stale']
  expect(findings.map(({ code, proved }) => [code, proved])).toEqual(codes.map((code) => [code, true]))
})

test('a finding about the raw body has a line for every framework, another one has none', async () => {
  const [parsed] = (await explain(withBody(snapshot))).findings
  expect(parsed?.lines).toHaveLength(10)
  const [quoted] = (await explain(withSecret(`'${secret}'`))).findings
  expect(quoted?.lines).toEqual([])
})

test('every line of a framework is in the guide to frameworks', () => {
  const page = new URL('../../../../docs/guides/receive-in-a-framework.md', import.meta.url)
  const guide = readFileSync(page, 'utf8')
  for (const { framework, line } of frameworkLines) {
    const [code = ''] = line.split(' // ')
    const core = framework === 'Worker' ? 'fetch: createWorkerHandler(' : code
    expect(guide).toContain(core)
  }
})

test('names from the request are shown without control characters, secrets or great length', async () => {
  const headers = { [`x-\u001b[2J${'y'.repeat(65_536)}`]: 'z', [`x-${secret}`]: '1', 'x-service-signature': '' }
  const { findings } = await explain({ headers })
  const printed = JSON.stringify(findings)
  expect(findings[0]?.code).toBe('signature_missing')
  expect(printed).not.toMatch(/\\u001b/)
  expect(printed).not.toContain(secret)
  expect(printed.length).toBeLessThan(3_000)
})

interface Vector extends Readonly<Record<'name' | 'body', string>> {
  readonly secrets: Readonly<Record<string, readonly string[]>>
  readonly headers: readonly [string, string][]
  readonly nowMs: number
}
const file = new URL('../../../../vectors/deliveries.json', import.meta.url)
const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vector[]

test.each(vectors)('agrees with the verifier on the vector $name', async ({ secrets, headers, nowMs, ...vector }) => {
  const body = Buffer.from(vector.body, 'base64')
  const all = Object.values(secrets).flat()
  const { verify } = createVerifier({ secrets: all, clock: { now: () => nowMs } })
  const accepted = await verify({ headers, body })
    .then(() => true)
    .catch(() => false)
  const { verified, findings } = await explainDelivery({ headers, body, secrets: all, clock: { now: () => nowMs } })
  expect({ verified, hasFindings: findings.length > 0 }).toEqual({ verified: accepted, hasFindings: !accepted })
})

test.each([
  ['lists', '['.repeat(60_000) + ']'.repeat(60_000)],
  ['objects', `${'{"a":'.repeat(60_000)}1${'}'.repeat(60_000)}`],
  ['a field of a snapshot', `${text.slice(0, -1)},"a":${'['.repeat(60_000)}${']'.repeat(60_000)}}`],
  ['an envelope', `{"body":${'['.repeat(60_000)}${']'.repeat(60_000)}}`],
])('a body of %s that are nested deeply has a finding', async (_, body) => {
  const { verified, findings } = await explain(withBody(body))
  expect(verified).toBe(false)
  expect(findings.length).toBeGreaterThan(0)
})

test('every depth near the limit of the stack has a finding', async () => {
  for (let depth = 3_000; depth < 12_000; depth += 500)
    await expect(explain(withBody(`{"body":${'['.repeat(depth)}${']'.repeat(depth)}}`))).resolves.toBeDefined()
})

test.each<[string, Change, typeof TypeError | typeof RangeError]>([
  ['no headers', { headers: undefined as never }, TypeError],
  ['no secret', { secrets: [] }, TypeError],
  ['a secret that is no text', { secrets: [5 as never] }, TypeError],
  ['no clock', { clock: { now: 5 as never } }, TypeError],
  ['a clock without time', { clock: { now: () => Number.NaN } }, RangeError],
  ['a negative tolerance', { toleranceSeconds: -1 }, RangeError],
])('%s is the mistake of the caller', async (_, change, kind) => {
  await expect(explain(change)).rejects.toThrow(kind)
})
