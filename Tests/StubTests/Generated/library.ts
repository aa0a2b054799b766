// Written by `strata contracts export --typescript` from the contract of Library 2.1. Export it again instead of editing it.
import { Client } from "strata-bus";
import type { CallOptions, Stream, StreamOptions } from "strata-bus";

export interface Lent {
    book: number;
    to: string;
}

export interface Noise {
    loudness: number;
}

export interface Find {
    /** A part of the title. */
    title: string;
    limit?: number | null;
    in?: Shelf | null;
    "not-after"?: string | null;
}

export interface Lend {
    book: number;
    days: number;
}

/** A book, and what is known of it. */
export interface Book {
    number: number;
    title: string;
    price: number;
    cover?: string | null;
    page: string;
    tags: string[];
    copies: Record<string, number>;
    shelf: Shelf;
    sequels: Book[];
}

export interface Chapter {
    name: string;
    next?: Chapter | null;
}

export interface MoveLentLent {
    to: string;
    _1: Place;
}

export interface MoveLent {
    lent: MoveLentLent;
}

export interface MoveReadRead {
    _0: Chapter;
}

export interface MoveRead {
    read: MoveReadRead;
}

export interface MoveReturned {
    returned: Record<string, unknown>;
}

export type Move = MoveLent | MoveRead | MoveReturned;

export type Place = [number, number];

/** Where a book stands. */
export type Shelf = "upper" | "lower" | "far-away";

/** The contents of the notifications, by name. */
export interface LibraryNotices {
    "library.lent": Lent;
    "library.noise": Noise;
    "Library.featured": Book | null;
    "Library.most-loans": number;
}

/**
 * Lends books.
 *
 * There is one for each town.
 */
export class Library extends Client {
    static override readonly interface = "Library";
    static override readonly version = "2.1";
    /** The name of a broadcast, whose content is of the type `Lent`. A book was lent. */
    static readonly LENT = "library.lent";
    /** The name of a report, whose content is of the type `Noise`. */
    static readonly NOISE = "library.noise";
    /** The broadcast that tells the value of `featured`. The book of the day. */
    static readonly FEATURED = "Library.featured";
    /**
     * The broadcast that tells the value of `most-loans`. How many books a reader may have.
     *
     * @deprecated
     */
    static readonly MOST_LOANS = "Library.most-loans";
    /** The code of an error: The library is closed. */
    static readonly CLOSED = "Library.closed";
    /** The code of an error. */
    static readonly NO_SHELF = "Library.no-shelf";

    /**
     * Finds books by their title.
     *
     * Fails with `Library.closed`, `Library.no-shelf`.
     */
    find(params: Find, options?: CallOptions): Promise<Book[]> {
        return this.callAction<Book[]>("find", params, options);
    }

    /** Each book that is lent or returned. */
    follow(options?: StreamOptions): Stream<Move> {
        return this.streamAction<Move>("follow", undefined, options);
    }

    /** @deprecated */
    lend(params: Lend, options?: CallOptions): Promise<void> {
        return this.callAction<void>("lend", params, options);
    }

    raw(params?: unknown, options?: CallOptions): Promise<unknown> {
        return this.callAction<unknown>("raw", params, options);
    }

    shelve(params: string, options?: CallOptions): Promise<boolean> {
        return this.callAction<boolean>("shelve", params, options);
    }

    tally(options?: CallOptions): Promise<Record<string, number>> {
        return this.callAction<Record<string, number>>("tally", undefined, options);
    }

    /** The book of the day. */
    featured(options?: CallOptions): Promise<Book | null> {
        return this.callAction<Book | null>("featured", undefined, options);
    }

    /**
     * How many books a reader may have.
     *
     * @deprecated
     */
    mostLoans(options?: CallOptions): Promise<number> {
        return this.callAction<number>("most-loans", undefined, options);
    }

    /**
     * Sets `most-loans`.
     *
     * Fails with `Library.closed`, `Library.no-shelf`.
     *
     * @deprecated
     */
    setMostLoans(value: number, options?: CallOptions): Promise<void> {
        return this.callAction<void>("most-loans.set", { value }, options);
    }

    static override readonly contract = `{
  "contract": 1,
  "interface": "Library",
  "version": "2.1",
  "description": "Lends books.\\n\\nThere is one for each town.",
  "actions": {
    "find": {
      "description": "Finds books by their title.",
      "auth": true,
      "params": {
        "type": "object",
        "properties": {
          "title": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "A part of the title."
          },
          "limit": {
            "anyOf": [
              {
                "type": "integer"
              },
              {
                "type": "null"
              }
            ],
            "default": 20
          },
          "in": {
            "anyOf": [
              {
                "$ref": "#/$defs/Shelf"
              },
              {
                "type": "null"
              }
            ]
          },
          "not-after": {
            "anyOf": [
              {
                "type": "string",
                "format": "date-time"
              },
              {
                "type": "null"
              }
            ]
          }
        },
        "required": [
          "title"
        ]
      },
      "reply": {
        "type": "array",
        "items": {
          "$ref": "#/$defs/Book"
        }
      },
      "errors": {
        "Library.closed": {
          "description": "The library is closed."
        },
        "Library.no-shelf": {}
      }
    },
    "follow": {
      "description": "Each book that is lent or returned.",
      "params": {
        "type": "object"
      },
      "element": {
        "$ref": "#/$defs/Move"
      }
    },
    "lend": {
      "deprecated": true,
      "params": {
        "type": "object",
        "properties": {
          "book": {
            "type": "integer",
            "minimum": 0
          },
          "days": {
            "type": "integer",
            "minimum": 0,
            "maximum": 255
          }
        },
        "required": [
          "book",
          "days"
        ]
      },
      "reply": {
        "type": "object"
      }
    },
    "raw": {},
    "shelve": {
      "params": {
        "type": "string"
      },
      "reply": {
        "type": "boolean"
      }
    },
    "tally": {
      "params": {
        "type": "object"
      },
      "reply": {
        "type": "object",
        "additionalProperties": {
          "type": "integer"
        }
      }
    }
  },
  "properties": {
    "featured": {
      "description": "The book of the day.",
      "value": {
        "anyOf": [
          {
            "$ref": "#/$defs/Book"
          },
          {
            "type": "null"
          }
        ]
      }
    },
    "most-loans": {
      "description": "How many books a reader may have.",
      "deprecated": true,
      "settable": true,
      "auth": true,
      "value": {
        "type": "integer",
        "minimum": 0,
        "maximum": 255
      },
      "errors": {
        "Library.closed": {
          "description": "The library is closed."
        },
        "Library.no-shelf": {}
      }
    }
  },
  "broadcasts": {
    "library.lent": {
      "description": "A book was lent.",
      "content": {
        "type": "object",
        "properties": {
          "book": {
            "type": "integer",
            "minimum": 0
          },
          "to": {
            "type": "string",
            "format": "uuid"
          }
        },
        "required": [
          "book",
          "to"
        ]
      }
    }
  },
  "reports": {
    "library.noise": {
      "content": {
        "type": "object",
        "properties": {
          "loudness": {
            "type": "number"
          }
        },
        "required": [
          "loudness"
        ]
      }
    }
  },
  "$defs": {
    "Book": {
      "type": "object",
      "properties": {
        "number": {
          "type": "integer",
          "minimum": 0
        },
        "title": {
          "type": "string"
        },
        "price": {
          "type": "number",
          "format": "decimal"
        },
        "cover": {
          "anyOf": [
            {
              "type": "string",
              "contentEncoding": "base64"
            },
            {
              "type": "null"
            }
          ]
        },
        "page": {
          "type": "string",
          "format": "uri-reference"
        },
        "tags": {
          "type": "array",
          "items": {
            "type": "string"
          }
        },
        "copies": {
          "type": "object",
          "additionalProperties": {
            "type": "integer"
          }
        },
        "shelf": {
          "$ref": "#/$defs/Shelf"
        },
        "sequels": {
          "type": "array",
          "items": {
            "$ref": "#/$defs/Book"
          }
        }
      },
      "required": [
        "number",
        "title",
        "price",
        "page",
        "tags",
        "copies",
        "shelf",
        "sequels"
      ],
      "description": "A book, and what is known of it."
    },
    "Chapter": {
      "type": "object",
      "properties": {
        "name": {
          "type": "string"
        },
        "next": {
          "anyOf": [
            {
              "$ref": "#/$defs/Chapter"
            },
            {
              "type": "null"
            }
          ]
        }
      },
      "required": [
        "name"
      ]
    },
    "Move": {
      "anyOf": [
        {
          "type": "object",
          "properties": {
            "lent": {
              "type": "object",
              "properties": {
                "to": {
                  "type": "string"
                },
                "_1": {
                  "$ref": "#/$defs/Place"
                }
              },
              "required": [
                "to",
                "_1"
              ]
            }
          },
          "required": [
            "lent"
          ],
          "additionalProperties": false
        },
        {
          "type": "object",
          "properties": {
            "read": {
              "type": "object",
              "properties": {
                "_0": {
                  "$ref": "#/$defs/Chapter"
                }
              },
              "required": [
                "_0"
              ]
            }
          },
          "required": [
            "read"
          ],
          "additionalProperties": false
        },
        {
          "type": "object",
          "properties": {
            "returned": {
              "type": "object"
            }
          },
          "required": [
            "returned"
          ],
          "additionalProperties": false
        }
      ]
    },
    "Place": {
      "type": "array",
      "prefixItems": [
        {
          "type": "number"
        },
        {
          "type": "number"
        }
      ],
      "items": false,
      "minItems": 2
    },
    "Shelf": {
      "type": "string",
      "enum": [
        "upper",
        "lower",
        "far-away"
      ],
      "description": "Where a book stands."
    }
  }
}
`;
}
