export { type Console, type ConsoleDeps, createConsole } from '../create-console.js'
export type { ConsoleService } from '../pages/page.js'
export { createPortal, type Portal, type PortalDeps, type PortalSignInOptions } from '../portal/create-portal.js'
export type { PortalService } from '../portal/tenant.js'
export type { OidcOptions } from '../session/oidc.js'
export type { SignInOptions } from '../session/sign-in.js'
export type {
  ConsoleTools,
  DoctorInput,
  DoctorResult,
  ExplainedDelivery,
  ExplainForm,
  ExplainResult,
  ReceiverProbe,
  TriggerTool,
} from '../tools.js'
export type { Role, Viewer } from '../viewer.js'
export type { ConsoleBindings } from '../web/guard.js'
