import type { components, operations, paths } from './schema.ts'

/** Bodies of requests and responses by their names in the description of the API, such as `Schemas['Neuron']`. */
export type Schemas = components['schemas']

/** Parameters of the query string of an operation. */
export type Query<Name extends keyof operations> = operations[Name] extends { parameters: { query?: infer Found } }
  ? NonNullable<Found>
  : never

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

export type PathOf<M extends Method> = {
  [Path in keyof paths]: paths[Path] extends { [Key in M]: object } ? Path : never
}[keyof paths]

type Operation<M extends Method, Path extends PathOf<M>> = paths[Path] extends { [Key in M]: infer Found }
  ? Found
  : never

type Parameters<Op> = Op extends { parameters: infer Found } ? Pick<Found, keyof Found & ('path' | 'query')> : unknown

type Body<Op> = Op extends { requestBody?: infer Found }
  ? [Found] extends [{ content: { 'application/json': infer Json } } | undefined]
    ? [Found] extends [undefined]
      ? unknown
      : { body: Json }
    : unknown
  : unknown

/** Parameters and body of an operation. `raw` replaces the body if that is not JSON. */
export type Input<M extends Method, Path extends PathOf<M>> = Parameters<Operation<M, Path>> &
  Body<Operation<M, Path>> & { raw?: FormData | Blob }

/** JSON that an operation returns. */
export type Output<M extends Method, Path extends PathOf<M>> =
  Operation<M, Path> extends { responses: infer Found }
    ? Found[keyof Found & (200 | 201 | 202)] extends { content: { 'application/json': infer Data } }
      ? Data
      : undefined
    : never
