import type { Static, TSchema } from 'typebox'
import type { ChangeOptions } from './fleet-operations.ts'
import type { DeepReadonly } from './schemas/deep-readonly.ts'

/** Where one operation is asked for, below `/api/v1`, and what goes there and back. */
export interface Endpoint {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Parameters as `:id`; `params` says what they may be. */
  readonly path: string
  readonly params?: TSchema
  /** One line for the page about the API. */
  readonly summary: string
  readonly query?: TSchema
  readonly body?: TSchema
  /** Default: 64 KiB. */
  readonly maxBodyBytes?: number
  /** Absent: 204 and nothing. */
  readonly answer?: TSchema
  /**
   * For the user of the service alone, on the control socket: it names files of his machine, or makes credentials.
   */
  readonly isControlOnly?: true
  /** A question whose answer holds secrets: `read` is not enough. */
  readonly needsWrite?: true
  /** Its answer, or what it changes, has a revision: `ETag`, `If-Match` and `If-None-Match: *` mean something. */
  readonly hasRevision?: true
}

export type Endpoints = Readonly<Record<string, Endpoint>>

type Given<Place, Key extends string> = Place extends { readonly [K in Key]: infer Schema extends TSchema }
  ? Static<Schema>
  : undefined

/** A request, read and checked. */
export interface Asked<Place> {
  readonly params: Given<Place, 'params'>
  readonly query: Given<Place, 'query'>
  readonly body: Given<Place, 'body'>
  /** Of a change: by whom, only for show, for which revision. */
  readonly change: ChangeOptions
}

type Handler<Place> = Place extends { readonly answer: infer Schema extends TSchema }
  ? (asked: Asked<Place>) => Promise<DeepReadonly<Static<Schema>>>
  : (asked: Asked<Place>) => Promise<void>

/** What is done for each endpoint of a table; one without does not compile. */
export type Handlers<Table extends Endpoints> = { readonly [Name in keyof Table]: Handler<Table[Name]> }
