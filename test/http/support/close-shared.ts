import { afterAll } from 'vitest'

// Imported late: until then the other setup may not have replaced what it replaces.
afterAll(async () => (await import('./test-server.ts')).closeShared())
