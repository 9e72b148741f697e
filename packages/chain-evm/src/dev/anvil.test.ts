import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { findAnvil, startAnvil } from './anvil.js'
import type { DevChainError } from './dev-chain.js'

const folder = mkdtempSync(join(tmpdir(), 'anvil-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function ask(rpcUrl: string, method: string, ...params: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(rpcUrl, { method: 'POST', headers, body, signal: AbortSignal.timeout(600_000) })
  return ((await response.json()) as { result: unknown }).result
}

const until = (condition: () => boolean | Promise<boolean>) => vi.waitUntil(condition, 300_000)
const answers = (rpcUrl: string) =>
  ask(rpcUrl, 'eth_chainId')
    .then(() => true)
    .catch(() => false)

/** A stand-in for the executable. */
function script(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, 0o755)
  return path
}

describe('starting', () => {
  test('two chains answer side by side on free ports with their own chain ids, and end', async () => {
    const [one, two] = await Promise.all([startAnvil(), startAnvil({ chainId: 4242 })])
    expect(await ask(one.rpcUrl, 'eth_chainId')).toBe('0x7a69')
    expect(await ask(two.rpcUrl, 'eth_chainId')).toBe('0x1092')
    expect([one.chainId, two.chainId]).toEqual([31337, 4242])
    await Promise.all([one.stop(), two.stop()])
    expect([await answers(one.rpcUrl), await answers(two.rpcUrl)]).toEqual([false, false])
    await one.stop()
  })

  test('blocks come at the given pace', async () => {
    const anvil = await startAnvil({ blockTimeSeconds: 0.05 })
    await until(async () => Number(await ask(anvil.rpcUrl, 'eth_blockNumber')) >= 3)
    await anvil.stop()
  })

  test('a port that is taken is an error', async () => {
    const first = await startAnvil()
    const port = Number(new URL(first.rpcUrl).port)
    const error = { code: 'ERR_ANVIL_EXIT', message: expect.stringContaining(`may use port ${port}`) }
    await expect(startAnvil({ port })).rejects.toMatchObject(error)
    await first.stop()
  })

  test('an executable that is missing, or that may not be run, is named', async () => {
    const plain = join(folder, 'plain')
    writeFileSync(plain, 'text')
    for (const binary of [join(folder, 'nothing'), folder, plain, 'no-such-anvil', ''])
      await expect(startAnvil({ binary })).rejects.toMatchObject({
        code: 'ERR_ANVIL_MISSING',
        message: expect.stringContaining(`"binary" is ${JSON.stringify(binary)}`),
      })
  })

  test('the environment of this process reaches neither anvil nor its guard', async () => {
    process.env['ANVIL_TEST_SECRET'] = 's3cret'
    const save = `env > ${folder}/env; cat /proc/$PPID/environ 2>/dev/null | tr '\\0' '\\n' >> ${folder}/env`
    try {
      const binary = script('env', `${save}; echo "Listening on 127.0.0.1:1"; exec sleep 60`)
      await (await startAnvil({ binary })).stop()
    } finally {
      delete process.env['ANVIL_TEST_SECRET']
    }
    const lines = readFileSync(join(folder, 'env'), 'utf8').trim().split('\n')
    // The shell itself sets those of the second group.
    const allowed = /^(PATH|HOME|TMPDIR|PWD|OLDPWD|SHLVL|_)=/
    expect(lines.filter((line) => !allowed.test(line))).toEqual([])
    expect(lines).toContain(`PATH=${process.env['PATH']}`)
  })

  test('an executable that never answers is ended', async () => {
    const binary = script('mute', `echo $$ > ${folder}/mute.pid; exec sleep 60`)
    await expect(startAnvil({ binary, startTimeoutMs: 300 })).rejects.toThrow('did not answer within 300 ms')
  })

  test('a signal that aborts ends it, before and after it is up', async () => {
    const reason = new Error('enough')
    await expect(startAnvil({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const early = new AbortController()
    const starting = startAnvil({ signal: early.signal, binary: script('slow', 'exec sleep 60') })
    early.abort(reason)
    await expect(starting).rejects.toBe(reason)
    const late = new AbortController()
    const anvil = await startAnvil({ signal: late.signal })
    late.abort(reason)
    await until(async () => !(await answers(anvil.rpcUrl)))
  })

  test('a Ctrl-C that the child gets first counts as the abort that follows', async () => {
    const interrupted = new AbortController()
    const binary = script('interrupted', `kill -INT $PPID; echo > ${folder}/interrupted.done; exec sleep 60`)
    const starting = expect(startAnvil({ binary, signal: interrupted.signal })).rejects.toThrow('Ctrl-C')
    await until(() => existsSync(join(folder, 'interrupted.done')))
    setTimeout(() => interrupted.abort(new Error('Ctrl-C')), 200)
    await starting
  })

  test.each([
    ...[{ chainId: 0 }, { port: -1 }, { port: 70_000 }, { blockTimeSeconds: 0 }, { blockTimeSeconds: Number.NaN }],
  ])('rejects %j', (options) => expect(startAnvil(options)).rejects.toThrow(RangeError))
})

describe('ending', () => {
  test('onExit reports a crash, and not a stop', async () => {
    const errors: DevChainError[] = []
    const binary = script('brief', 'echo "Listening on 127.0.0.1:1"; sleep 0.2; exit 7')
    await startAnvil({ binary, onExit: (error) => errors.push(error) })
    await until(() => errors.length > 0)
    expect(errors[0]?.message).toContain('exit code 7')
    const stopped = await startAnvil({ onExit: (error) => errors.push(error) })
    await stopped.stop()
    expect(errors).toHaveLength(1)
  })

  test('anvil ends with a parent that is killed', async () => {
    const source = `
      import { startAnvil } from ${JSON.stringify(new URL('anvil.ts', import.meta.url).href)}
      console.log((await startAnvil()).rpcUrl)
      setInterval(() => {}, 1_000)`
    const args = ['--conditions=@payment-integration/source', '--import', 'tsx', '--input-type=module', '-e', source]
    const cwd = fileURLToPath(new URL('.', import.meta.url))
    const parent = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
    const rpcUrl = await new Promise<string>((resolve, reject) => {
      parent.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString('utf8').trim()))
      parent.once('exit', (code) => reject(new Error(`the parent ended with ${code}`)))
    })
    expect(await answers(rpcUrl)).toBe(true)
    parent.kill('SIGKILL')
    await until(async () => !(await answers(rpcUrl)))
  })
})

describe('finding anvil', () => {
  test('a platform without a package takes it from the PATH', () => {
    const binary = script('anvil', 'exit 0')
    expect(findAnvil({ platform: 'freebsd', arch: 'x64', path: `/nowhere::${folder}` })).toBe(binary)
  })

  test('without either, the message says how to get it', () => {
    const onLinux = () => findAnvil({ platform: 'linux', arch: 'arm64', path: '/nowhere' })
    expect(onLinux).toThrow('npm install @foundry-rs/anvil-linux-arm64')
    const elsewhere = () => findAnvil({ platform: 'freebsd', arch: 'x64', path: '/nowhere' })
    expect(elsewhere).toThrow(expect.objectContaining({ code: 'ERR_ANVIL_MISSING' }))
    expect(elsewhere).toThrow('https://getfoundry.sh')
  })
})

test("anvil's cache is deleted when it has ended", async () => {
  const before = process.env['TMPDIR']
  const temporary = mkdtempSync(join(folder, 'temporary-'))
  process.env['TMPDIR'] = temporary
  try {
    const anvil = await startAnvil()
    expect(readdirSync(temporary)).toHaveLength(1)
    await ask(anvil.rpcUrl, 'anvil_mine', '0x320')
    await anvil.stop()
    expect(readdirSync(temporary)).toEqual([])
  } finally {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  }
})
