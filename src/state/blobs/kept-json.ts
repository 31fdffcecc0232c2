/** Values as JSON, by name, each whole or not there. What is damaged is not there either. */
export interface KeptJson {
  find(name: string): Promise<unknown>
  has(name: string): Promise<boolean>
  remove(name: string): Promise<void>
  names(): Promise<string[]>
  /** `flush`: it survives a power cut. */
  keep(name: string, value: unknown, options: { flush: boolean }): Promise<void>
}
