export type { DoctorFramework } from '../adapter-lines.js'
export {
  type DoctorCause,
  type DoctorCauseCode,
  type DoctorFix,
  doctorCauseCodes,
  doctorFrameworks,
} from '../doctor/causes.js'
export { type DoctorOptions, doctorDefaults, doctorHashPrefix } from '../doctor/probes/probe.js'
export {
  type DoctorAnswer,
  type DoctorFinding,
  type DoctorNoAnswer,
  type DoctorProbe,
  type DoctorProbeName,
  type DoctorReport,
  type DoctorVerdict,
  doctorProbeNames,
  type SocketAnswer,
} from '../doctor/report.js'
export { runDoctor } from '../doctor/run-doctor.js'
export { createSocketSender, type DoctorFetch, type DoctorRequest, type DoctorResponse } from '../doctor/send.js'
