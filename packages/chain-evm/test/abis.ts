/** Loads the router ABIs of this folder. @module */
import { readFileSync } from 'node:fs'
import type { Abi, AbiEvent, AbiFunction, AbiParameter } from 'viem'

export const decodedVersions = ['0.1', '0.2', '0.3', '0.4', '0.5', '0.6', '0.7', '0.8', '0.9'] as const

export function routerAbi(version: string): Abi {
  return JSON.parse(readFileSync(new URL(`abi/v${version}.json`, import.meta.url), 'utf8')) as Abi
}

/** The functions that pay. */
export function routerFunctions(version: string): AbiFunction[] {
  const functions = routerAbi(version).filter((item) => item.type === 'function')
  return functions.filter(({ name }) => name !== 'emitConversionEvent')
}

export function routerEvents(version: string): AbiEvent[] {
  return routerAbi(version).filter((item) => item.type === 'event')
}

/** Builds a value of any ABI type: given fields by name, all others by `fallback` from their type. */
export function getExample(
  parameter: AbiParameter,
  given: Readonly<Record<string, unknown>>,
  fallback: (type: string) => unknown,
): unknown {
  const { type, name = '' } = parameter
  if (name in given) return given[name]
  const list = /^(.*)\[(\d*)\]$/.exec(type)
  if (list !== null) {
    const item = { ...parameter, type: list[1] ?? '', name: '' }
    return Array.from({ length: Number(list[2] || 2) }, () => getExample(item, given, fallback))
  }
  if (type === 'tuple' && 'components' in parameter)
    return Object.fromEntries(parameter.components.map((part) => [part.name, getExample(part, given, fallback)]))
  return fallback(type)
}
