/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Content for those who may act. @module */
import { type Child, useContext } from 'hono/jsx'
import { mayAct, type Role } from '../viewer.js'
import { VisitContext } from './act-form.js'

/** Shows its children to a role that may act; to others `otherwise`, if any. */
export function ForRole({ needs, otherwise, children }: { needs: Role; otherwise?: Child; children?: Child }) {
  const visit = useContext(VisitContext)
  return <>{visit !== null && mayAct(visit.viewer.role, needs) ? children : otherwise}</>
}
