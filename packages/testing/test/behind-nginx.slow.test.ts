/** A receiver behind a real nginx, with the lines of docs/guides/receive-behind-nginx.md. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createVerifier, isWebhookRejection, readBody } from '@payment-integration/webhook'
import { describe, expect, onTestFinished, test } from 'vitest'
import { explainDelivery, parseRequest } from '../src/exports/explain.js'
import { createBuilders, createDeliveries } from '../src/exports/index.js'
import { listen } from './support.js'

const nginxMissing = spawnSync('nginx', ['-v']).status === 0 ? null : ' (nginx is missing: apt-get install nginx-light)'
const page = readFileSync(new URL('../../../docs/guides/receive-behind-nginx.md', import.meta.url), 'utf8')
const [location = '', capture = ''] = [...page.matchAll(/```nginx\n(.*?)```/gs)].map(([, block]) => block)
const secret = 'pi_whsec_for_tests'
const sentAt = 1_760_000_000_000
const build = createBuilders({ seed: 1 })
const deliveries = createDeliveries({ secret, clock: { now: () => sentAt } })

/** Starts a receiver; it answers the code of a rejection. */
async function startReceiver(): Promise<number> {
  const { verify } = createVerifier({ secrets: [secret], clock: { now: () => sentAt } })
  const server = createServer(async (incoming, response) => {
    try {
      await verify({ headers: incoming.headers, body: await readBody(incoming) })
      response.writeHead(204).end()
    } catch (error) {
      const { status, code } = isWebhookRejection(error) ? error : { status: 500, code: String(error) }
      response.writeHead(status).end(code)
    }
  })
  return listen(server)
}

/** Starts nginx before the receiver. @param change - Changes the location of the page. */
async function startNginx(change: (lines: string) => string = (lines) => lines) {
  const port = await startReceiver()
  const folder = mkdtempSync(join(tmpdir(), 'behind-nginx-'))
  const socket = join(folder, 'socket')
  const log = join(folder, 'delivery.txt')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const lines = change(location.replace('127.0.0.1:3000', `127.0.0.1:${port}`))
  const logged = lines.replace(/\}\s*$/, `  access_log ${log} delivery;\n}`)
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off;\nmaster_process off;\npid ${folder}/pid;\nerror_log stderr;\nevents {}\n` +
      `http {\n${temporary.join('\n')}\n${capture}\nserver {\nlisten unix:${socket};\n${logged}\n}\n}\n`,
  )
  const child = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += String(chunk)
  })
  onTestFinished(async () => {
    await stop(child)
    rmSync(folder, { recursive: true })
  })
  while (!(await accepts(socket))) if (child.exitCode !== null) throw new Error(errors)
  return {
    async send(delivery: { readonly headers: Readonly<Record<string, string>>; readonly body: string | Uint8Array }) {
      const sent = request({ socketPath: socket, path: '/webhook', method: 'POST', headers: delivery.headers })
      sent.end(delivery.body)
      const [answer] = await once(sent, 'response')
      let text = ''
      for await (const chunk of answer) text += String(chunk)
      return { status: answer.statusCode as number, text }
    },
    /** Ends nginx, which then has written its log. */
    async captured() {
      await stop(child)
      return readFileSync(log, 'utf8')
    },
  }
}

/** A socket has a file before it accepts connections. */
async function accepts(path: string): Promise<boolean> {
  const socket = connect(path)
  const isOpen = await once(socket, 'connect')
    .then(() => true)
    .catch(() => false)
  socket.destroy()
  return isOpen
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGQUIT')
  await once(child, 'exit')
}

describe.skipIf(nginxMissing !== null)(`behind nginx${nginxMissing ?? ''}`, () => {
  const genuine = () => deliveries.good(build.snapshot())

  test('a delivery verifies behind the lines of the page, however large it is', async () => {
    const { send } = await startNginx()
    expect(await send(await genuine())).toEqual({ status: 204, text: '' })
    const large = await deliveries.good({ ...build.snapshot(), padding: 'x'.repeat(200_000) } as never)
    expect(await send(large)).toEqual({ status: 204, text: '' })
  })

  test.each([
    ['drops headers', 'proxy_pass_request_headers off;', 401, 'ERR_SIGNATURE_MISSING'],
    ['changes the body', "proxy_set_body '$request_body ';", 401, 'ERR_SIGNATURE_MISMATCH'],
    ['rewrites the header', "proxy_set_header X-Service-Signature 'v1';", 400, 'ERR_SIGNATURE_MALFORMED'],
    ['has a lower limit', 'client_max_body_size 100;', 413, '413'],
    ['redirects', 'return 301 https://shop.example/webhook/;', 301, '301'],
  ])('a proxy that %s is seen by the answer that the page names', async (_name, line, status, text) => {
    const { send } = await startNginx((lines) =>
      lines
        .replace(/ *client_max_body_size.*\n/, line.startsWith('client_max') ? '' : '$&')
        .replace('{', `{\n  ${line}`),
    )
    const answer = await send(await genuine())
    expect(answer.status).toBe(status)
    expect(answer.text).toContain(text)
  })

  test('the captured delivery is explained: genuine, or changed before nginx', async () => {
    const { send, captured } = await startNginx()
    await send(await genuine())
    const secrets = [secret]
    const clock = { now: () => sentAt }
    const newest = (text: string) => parseRequest(text.slice(text.lastIndexOf('\nPOST ') + 1))
    expect(await explainDelivery({ ...newest(await captured()), secrets, clock })).toMatchObject({ verified: true })

    const changed = await startNginx()
    const { headers, body } = await genuine()
    await changed.send({ headers, body: JSON.stringify(JSON.parse(new TextDecoder().decode(body)), null, 2) })
    const explained = await explainDelivery({ ...newest(await changed.captured()), secrets, clock })
    expect(explained).toMatchObject({ verified: false, findings: [{ code: 'body_reencoded', proved: true }] })
  })
})
