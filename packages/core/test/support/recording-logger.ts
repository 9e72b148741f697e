import type { Logger } from '../../src/ports/runtime.js'

export type LogLine = Readonly<{ level: keyof Logger; fields: Readonly<Record<string, unknown>>; message: string }>

export function recordingLogger(): Logger & { readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = []
  const at = (level: keyof Logger) => (fields: Readonly<Record<string, unknown>>, message: string) => {
    lines.push({ level, fields, message })
  }
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
