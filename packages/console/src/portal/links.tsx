/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Paths, sections and forms of the portal. @module */
import type { Child } from 'hono/jsx'
import { CsrfField } from '../view/act-form.js'
import type { Sections } from '../view/layout.js'
import { Shown } from '../view/parts.js'

/** Where the portal is mounted. */
export const portalBase = '/portal'

/** The sections of the portal. */
export const portalSections: Sections = [
  ['', 'Overview'],
  ['/payments', 'Payments'],
  ['/deliveries', 'Deliveries'],
  ['/endpoint', 'Endpoint'],
  ['/secrets', 'Secrets'],
]

/** A URL of the portal with these parameters; undefined ones are left out. */
export function portalHref(path: string, parameters: Readonly<Record<string, string | null | undefined>> = {}): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value ? [[name, value] satisfies [string, string]] : [],
  )
  return given.length === 0 ? `${portalBase}${path}` : `${portalBase}${path}?${new URLSearchParams(given)}`
}

/** The path of a payment's page, below the base. */
export const ownPaymentPath = ({ chainId, txHash }: { chainId: number | string; txHash: string }) =>
  `/payments/${chainId}/${txHash}`

/** What a form of the portal does. */
export interface PortalFormProps {
  /** The act of `acts.tsx`. */
  readonly act: string
  /** The word on the button. */
  readonly label: string
  /** Hidden fields. */
  readonly fields?: Readonly<Record<string, string>>
  readonly tone?: 'plain' | 'danger'
  /** Fields that people fill in, above the button. */
  readonly children?: Child
}

/** A form that acts. It works without JavaScript. */
export function PortalForm({ act, label, fields = {}, tone = 'plain', children }: PortalFormProps) {
  return (
    <form class="act" method="post" action={`${portalBase}/act/${act}`}>
      <CsrfField />
      {Object.entries(fields).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {children}
      <button type="submit" class={tone}>
        {label}
      </button>
    </form>
  )
}

/** A page that says why there is nothing else. */
export function Problem({ title, text }: { title: string; text: string }) {
  return (
    <>
      <h1>{title}</h1>
      <p>
        <Shown text={text} most={400} />
      </p>
      <p>
        <a href={portalHref('')}>Back to the overview</a>
      </p>
    </>
  )
}

/** Its content. */
export const problemPage = (title: string, text: string) => ({
  title,
  section: '-',
  body: <Problem title={title} text={text} />,
})
