export type { DoctorFramework } from '../adapter-lines.js'
export { doctorHashPrefix } from '../doctor/bench.js'
export { type DoctorCause, type DoctorCauseCode, doctorCauseCodes } from '../doctor/causes.js'
export { type DoctorFix, doctorFrameworks } from '../doctor/fixes.js'
export { type DoctorOptions, doctorDefaults } from '../doctor/options.js'
export { type DoctorProbeName, doctorProbeNames } from '../doctor/probe-names.js'
export type {
  DoctorAnswer,
  DoctorFinding,
  DoctorNoAnswer,
  DoctorProbe,
  DoctorReport,
  DoctorVerdict,
  SocketAnswer,
} from '../doctor/report.js'
export { runDoctor } from '../doctor/run-doctor.js'
export { createSocketSender } from '../doctor/send.js'
export type { DoctorFetch, DoctorRequest, DoctorResponse } from '../doctor/send-by-fetch.js'
