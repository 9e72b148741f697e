/** The lines that keep the raw body, by the names of the frameworks. @module */
import { adapterLines, type DoctorFramework } from '../adapter-lines.js'
import type { ExplainFramework, FrameworkLine } from './finding.js'

const names = {
  express: 'Express',
  fastify: 'Fastify',
  hono: 'Hono',
  'next-app': 'Next app',
  'next-pages': 'Next pages',
  nest: 'Nest',
  koa: 'Koa',
  worker: 'Worker',
  lambda: 'Lambda',
  node: 'Node',
} as const satisfies Record<DoctorFramework, ExplainFramework>

/** One line for each framework with an adapter. */
export const frameworkLines: readonly FrameworkLine[] = (Object.keys(names) as DoctorFramework[]).map((key) => ({
  framework: names[key],
  line: adapterLines[key],
}))
