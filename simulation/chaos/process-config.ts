/** What a process of the service is told, as JSON on its command line. @module */
import type { FastTime } from './fast-clock.js'

/** Everything that it needs. */
export interface ProcessConfig {
  readonly chainId: number
  /** Of the endpoints, best first. */
  readonly urls: readonly string[]
  readonly routers: readonly { readonly address: string; readonly version: string }[]
  readonly databasePath: string
  readonly startBlock: number
  readonly finalityBlocks: number
  readonly nearHead: number
  readonly time: FastTime
}
