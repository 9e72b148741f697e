/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** New secrets: the answer to the form that created them, and the only page that shows them. @module */
import type { Child } from 'hono/jsx'
import { Copyable, hrefOf } from '../view/parts.js'

/** Secrets that are shown once. */
export interface NewSecretsPageProps {
  readonly title: string
  /** Names and values. */
  readonly secrets: readonly (readonly [name: string, value: string])[]
  /** Path below the base to which one goes on. */
  readonly to: string
  /** Instructions. */
  readonly children?: Child
}

/** The page. */
export function NewSecretsPage({ title, secrets, to, children }: NewSecretsPageProps) {
  return (
    <>
      <h1>{title}</h1>
      <p class="note" role="status">
        This page shows {secrets.length === 1 ? 'it' : 'them'} once. Copy now: no other page ever shows it.
      </p>
      {secrets.map(([name, value]) => (
        <section>
          <h2>{name}</h2>
          <Copyable label={name} text={value} />
        </section>
      ))}
      {children}
      <p>
        <a href={hrefOf(to, {})}>Go on</a>
      </p>
    </>
  )
}
