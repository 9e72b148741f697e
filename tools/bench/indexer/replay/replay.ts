/** Starts nodes that answer from one recording of a chain. @module */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ChainPlan, type FilledChain, fillChain } from '../chain.js'
import { compiled } from '../compiled.js'
import { recordChain } from './recording.js'

/** A node and its line. */
export interface Line {
  /** Added to each request. */
  readonly latencyMs: number
  /** Of all answers together. @default without a limit */
  readonly bytesPerSecond?: number
  /** Whether the node has raw receipts. @default false */
  readonly raw?: boolean
}

/** What a node was asked for. */
export interface ReplayCounts {
  readonly requests: number
  readonly bytes: number
  /** By method. */
  readonly calls: Readonly<Record<string, number>>
}

/** A node that answers from the recording. */
export interface ReplayNode extends FilledChain {
  counts(): Promise<ReplayCounts>
}

/** A recorded chain. */
export interface Recording {
  readonly head: number
  /** Starts a node; end it with its `stop`. */
  open(line: Line): Promise<ReplayNode>
  remove(): Promise<void>
}

/** Mines a chain and records it. anvil stays for calls about tokens. */
export async function recordPlan(plan: ChainPlan): Promise<Recording> {
  const chain = await fillChain(plan)
  const folder = await mkdtemp(join(tmpdir(), 'payment-integration-recording-'))
  const path = join(folder, 'blocks.jsonl')
  const head = await recordChain(path, { ...chain, emptyBetween: plan.emptyBetween })
  const program = compiled('replay/node')
  return {
    head,
    async open({ latencyMs, bytesPerSecond, raw = false }) {
      const env = {
        PATH: process.env['PATH'],
        RECORDING: path,
        FALLBACK_URL: chain.rpcUrl,
        LATENCY_MS: String(latencyMs),
        RAW: raw ? 'on' : 'off',
        ...(bytesPerSecond === undefined ? {} : { BYTES_PER_SECOND: String(bytesPerSecond) }),
      }
      const child = fork(program, { execArgv: ['--max-old-space-size=4096'], env })
      const [{ port }] = (await once(child, 'message')) as [{ port: number }]
      const rpcUrl = `http://127.0.0.1:${port}`
      return {
        ...chain,
        head,
        rpcUrl,
        counts: async () => (await (await fetch(rpcUrl)).json()) as ReplayCounts,
        async stop() {
          if (child.exitCode !== null) return
          child.kill('SIGKILL')
          await once(child, 'exit')
        },
      }
    },
    async remove() {
      await chain.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
