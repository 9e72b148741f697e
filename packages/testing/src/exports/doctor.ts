export { doctorFrameworks } from '../doctor/causes.js'
export { type DoctorOptions, doctorHashPrefix } from '../doctor/probes/probe.js'
export {
  type DoctorFinding,
  type DoctorProbe,
  type DoctorReport,
  doctorProbeNames,
  type SocketAnswer,
} from '../doctor/report.js'
export { runDoctor } from '../doctor/run-doctor.js'
export { createSocketSender } from '../doctor/send.js'
export type { DoctorFramework } from '../explain/finding.js'
