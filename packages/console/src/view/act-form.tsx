/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** A form that acts: one button, shown to those who may press it. @module */
import { type Child, createContext, useContext } from 'hono/jsx'
import { mayAct, type Role, type Visit } from '../viewer.js'
import { base } from './parts.js'

/** The visit for which a page is rendered. */
export const VisitContext = createContext<Visit | null>(null)

/** The hidden field with the CSRF token. */
export function CsrfField() {
  return <input type="hidden" name="csrf" value={useContext(VisitContext)?.csrfToken ?? ''} />
}

/** A form that posts its fields. */
export interface PostFormProps {
  readonly action: string
  /** The word on the button. */
  readonly label: string
  /** Hidden fields. */
  readonly fields?: Readonly<Record<string, string | number | undefined>>
  readonly tone?: 'plain' | 'danger'
  /** Fields that people fill in, above the button. */
  readonly children?: Child
}

/** The form with its CSRF token. It works without JavaScript. */
export function PostForm({ action, label, fields = {}, tone = 'plain', children }: PostFormProps) {
  return (
    <form class="act" method="post" action={action}>
      <CsrfField />
      {Object.entries(fields).map(([name, value]) =>
        value === undefined ? null : <input type="hidden" name={name} value={String(value)} />,
      )}
      {children}
      <button type="submit" class={tone}>
        {label}
      </button>
    </form>
  )
}

/** The act of a form of the console. */
export interface ActFormProps extends Omit<PostFormProps, 'action'> {
  /** The act of `acts/acts.ts`. */
  readonly act: string
  readonly needs: Role
}

/** The form of an act; nothing for those who may not act. */
export function ActForm({ act, needs, ...form }: ActFormProps) {
  const visit = useContext(VisitContext)
  if (visit === null || !mayAct(visit.viewer.role, needs)) return null
  return <PostForm {...form} action={`${base}/act/${act}`} />
}
