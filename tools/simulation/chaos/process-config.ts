/** Configuration of a service process, as JSON on its command line. @module */
import type { FastTime } from './fast-clock.js'

/** The configuration. */
export interface ProcessConfig {
  readonly chainId: number
  /** URLs of the endpoints, preferred first. */
  readonly urls: readonly string[]
  readonly routers: readonly { readonly address: string; readonly version: string }[]
  readonly databasePath: string
  readonly startBlock: number
  readonly finalityBlocks: number
  readonly nearHead: number
  readonly time: FastTime
}
