/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Paths, sections and forms of the portal. @module */
import { ErrorPage } from '../pages/records.js'
import { PostForm, type PostFormProps } from '../view/act-form.js'
import type { Sections } from '../view/layout.js'
import { linksBelow } from '../web/paths.js'

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

/** A URL of the portal with these parameters. */
export const portalHref = linksBelow(portalBase)

/** A form that acts. @see PostForm */
export function PortalForm({ act, ...form }: Omit<PostFormProps, 'action'> & { readonly act: string }) {
  return <PostForm {...form} action={`${portalBase}/act/${act}`} />
}

/** The content of a page that says why there is nothing else. */
export const problemPage = (title: string, text: string) => ({
  title,
  section: '-',
  body: <ErrorPage title={title} text={text} home={portalBase} />,
})
