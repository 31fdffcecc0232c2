import { Threads } from '../../src/system/threads.ts'

/** Shared by the tests of a process, since each thread takes a tenth of a second to start. They end with the process. */
export const threads = new Threads()
