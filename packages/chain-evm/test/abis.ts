/** The router ABIs beside this file. @module */
import { readFileSync } from 'node:fs'
import type { Abi, AbiEvent, AbiFunction } from 'viem'

export const decodedVersions = ['0.3', '0.4', '0.5', '0.6', '0.7', '0.8', '0.9'] as const

export function routerAbi(version: string): Abi {
  return JSON.parse(readFileSync(new URL(`abi/v${version}.json`, import.meta.url), 'utf8')) as Abi
}

export function routerFunctions(version: string): AbiFunction[] {
  return routerAbi(version).filter((item) => item.type === 'function')
}

export function routerEvents(version: string): AbiEvent[] {
  return routerAbi(version).filter((item) => item.type === 'event')
}
