"""Online: tables and text become ids."""
