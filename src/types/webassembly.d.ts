/** The part of Node's WebAssembly that is used; TypeScript has it with the types of browsers only. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array)
  }
  class Instance {
    readonly exports: object
    constructor(module: Module, imports: Record<string, Record<string, () => void>>)
  }
  interface Memory {
    readonly buffer: ArrayBuffer
    /** By pages of 64 KiB; a buffer that was read before is empty since. */
    grow(pages: number): number
  }
}
