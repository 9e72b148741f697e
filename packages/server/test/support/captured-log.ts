/** A logger of the service whose lines a test reads. */
import { createPinoLogger } from '../../src/logging/log.js'

export async function captureLog(level: 'debug' | 'info' = 'debug') {
  const lines: string[] = []
  const logger = await createPinoLogger({ level, destination: { write: (line: string) => lines.push(line) } })
  return { logger, lines, parsed: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) }
}
