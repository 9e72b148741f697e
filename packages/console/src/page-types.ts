/** Dependencies of pages, and the content that they give their frame. @module */
import type { Service } from '@payment-integration/core'
import type { Child } from 'hono/jsx'
import type { Given } from './filters.js'
import type { Jobs } from './jobs/jobs.js'
import type { Sampler } from './live/sampler.js'
import type { ConsoleTools } from './tools/tools.js'
import type { Role } from './viewer.js'

/** The content of a page, for its frame. */
export interface PageContent {
  readonly title: string
  /** Path of the section that the navigation marks. */
  readonly section: string
  readonly body: Child
  /** Query of the stream that updates the page; absent: none. */
  readonly live?: string | undefined
}

/** A configuration variable without secrets, as the page of settings shows it. */
export interface Setting {
  readonly name: string
  /** The group of the variable. */
  readonly section: string
  readonly value: string
  /** Whether the variable is not set. */
  readonly isDefault: boolean
  readonly doc: string
}

/** Dependencies of pages. */
export interface PageDeps {
  readonly service: Pick<Service, 'queries' | 'indexers' | 'integrations'>
  readonly settings?: readonly Setting[] | undefined
  readonly sampler: Sampler
  readonly jobs: Pick<Jobs, 'list' | 'find'>
  readonly tools: ConsoleTools
  /** Of the viewer. */
  readonly role: Role
  readonly now: () => number
  readonly url: URL
}

/** Reads a page; null: there is none. */
export type Load = (deps: PageDeps, given: Given) => Promise<PageContent | null>
