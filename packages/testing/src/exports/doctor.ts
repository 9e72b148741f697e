export type { DoctorFramework } from '../adapter-lines.js'
export { type DoctorOptions, doctorDefaults, doctorHashPrefix } from '../doctor/bench.js'
export {
  type DoctorCause,
  type DoctorCauseCode,
  type DoctorFix,
  doctorCauseCodes,
  doctorFrameworks,
} from '../doctor/causes.js'
export type {
  DoctorAnswer,
  DoctorFinding,
  DoctorNoAnswer,
  DoctorProbe,
  DoctorReport,
  DoctorVerdict,
  SocketAnswer,
} from '../doctor/report.js'
export { type DoctorProbeName, doctorProbeNames } from '../doctor/report.js'
export { runDoctor } from '../doctor/run-doctor.js'
export type { DoctorFetch, DoctorRequest, DoctorResponse } from '../doctor/send.js'
export { createSocketSender } from '../doctor/send.js'
