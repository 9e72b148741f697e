/** Writes minimal projects for tests of `init`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseName, FrameworkName } from '../src/init/layout.js'

/** The properties of the project, before `init`. */
export interface ProjectOptions {
  readonly language?: 'ts' | 'js'
  readonly isModule?: boolean
  readonly database?: DatabaseName
  readonly router?: 'app' | 'pages'
}

/** Packages that a project of the framework has already. */
const listed: Readonly<Record<FrameworkName, readonly string[]>> = {
  express: ['express'],
  fastify: ['fastify'],
  hono: ['hono'],
  koa: ['koa'],
  worker: [],
  lambda: [],
  node: [],
  next: ['next', 'react', 'react-dom'],
  nest: ['@nestjs/core', '@nestjs/common', '@nestjs/platform-express', 'reflect-metadata', 'rxjs'],
}

/** Writes a minimal project of the framework into a folder, which must exist. */
export function writeProject(folder: string, framework: FrameworkName, options: ProjectOptions = {}): void {
  const { language = 'ts', isModule = true, router = 'app' } = options
  const dependencies = Object.fromEntries(listed[framework].map((name) => [name, '*']))
  const manifest = { name: 'shop', private: true, ...(isModule && { type: 'module' }), dependencies }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  if (language === 'ts') writeFileSync(join(folder, 'tsconfig.json'), '{}\n')
  if (framework === 'next') mkdirSync(join(folder, router))
}
