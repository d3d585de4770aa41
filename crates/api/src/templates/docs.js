"use strict";

SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#viewer",
  deepLinking: true,
  // Do not send the document to an external validator.
  validatorUrl: null,
});
